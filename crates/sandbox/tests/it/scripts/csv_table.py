import csv
import io

text = """name,city,amount
Alice,"New York, NY",10.5
Bob,Paris,3
"李雷",北京,42
"""
rows = list(csv.DictReader(io.StringIO(text)))
rows.sort(key=lambda row: float(row["amount"]), reverse=True)
out = io.StringIO()
writer = csv.DictWriter(out, fieldnames=["name", "amount", "city"], lineterminator="\n")
writer.writeheader()
writer.writerows(rows)
print(out.getvalue(), end="")
with open("shared/table.csv", "w", newline="", encoding="utf-8") as file:
    csv.writer(file).writerows([["a", "b"], [1, 'quote " inside']])
print(repr(open("shared/table.csv", newline="").read()))
