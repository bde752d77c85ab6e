import argparse
import configparser
import io
import shlex

config = configparser.ConfigParser()
config.read_string("[DEFAULT]\nretries = 3\n[server]\nhost = example.com\nport = 8080\ndebug = yes\nurl = http://%(host)s/\n")
server = config["server"]
print(server["url"], server.getint("port"), server.getboolean("debug"), server.getint("retries"), config.sections())
out = io.StringIO()
config.write(out)
print(out.getvalue().strip())
parser = argparse.ArgumentParser(prog="tool", description="A tool.")
parser.add_argument("files", nargs="+")
parser.add_argument("-n", "--number", type=int, default=1, help="how many")
parser.add_argument("--verbose", action="store_true")
commands = parser.parse_args(shlex.split("a.txt 'b c.txt' -n 5 --verbose"))
print(commands)
print(parser.format_usage(), end="")
try:
    parser.exit_on_error = False
    parser.parse_args(["x", "-n", "many"])
except (argparse.ArgumentError, SystemExit) as error:
    print(type(error).__name__)
