import os
import shutil
import tempfile

with tempfile.TemporaryDirectory() as folder:
    path = os.path.join(folder, "file.txt")
    with open(path, "w") as file:
        file.write("one\ntwo\nthree\n")
    shutil.copy(path, path + ".bak")
    print(sorted(os.listdir(folder)), open(path + ".bak").readlines()[1:])
print(os.path.exists(folder))
with tempfile.NamedTemporaryFile("w+", suffix=".log", dir="shared") as file:
    file.write("hello")
    file.seek(0)
    print(file.read(), os.path.basename(file.name).endswith(".log"), os.path.exists(file.name))
with tempfile.TemporaryFile() as file:
    file.write(b"abc")
    print(file.tell())
with tempfile.SpooledTemporaryFile(max_size=10, mode="w+") as file:
    file.write("x" * 20)
    file.seek(0)
    print(len(file.read()))
os.makedirs("shared/a/b/c", exist_ok=True)
shutil.rmtree("shared/a")
print(os.path.isdir("shared/a"), shutil.disk_usage("shared").total > 0)
