import sqlite3

connection = sqlite3.connect(":memory:")
connection.row_factory = sqlite3.Row
connection.executescript("""
create table person (id integer primary key, name text unique, age integer);
create table pet (owner integer references person(id), name text);
""")
connection.executemany("insert into person (name, age) values (?, ?)", [("Ann", 31), ("Bob", 25), ("陈", 40)])
connection.execute("insert into pet select id, 'Rex' from person where name = ?", ("Ann",))
for row in connection.execute("""
    select person.name, age, coalesce(pet.name, '-') as pet from person
    left join pet on pet.owner = person.id order by age desc"""):
    print(dict(row))
try:
    with connection:
        connection.execute("update person set age = age + 1")
        connection.execute("insert into person (name, age) values ('Ann', 1)")
except sqlite3.IntegrityError as error:
    print("rolled back:", error, connection.execute("select sum(age) from person").fetchone()[0])
