import os
import sqlite3

path = "shared/scores.db"
with sqlite3.connect(path) as db:
    db.execute("pragma journal_mode = wal")
    db.execute("create table if not exists score (player text, points real)")
    db.executemany("insert into score values (?, ?)", [("a", 1.5), ("b", 2.5), ("a", 4)])
db.close()
db = sqlite3.connect(path)
query = "select player, count(*), avg(points) from score group by player order by player"
print(db.execute(query).fetchall())
db.create_function("shout", 1, lambda text: text.upper() + "!")
print(db.execute("select shout(player) from score where points > 2 order by points").fetchall())
db.close()
print(os.path.exists(path), os.path.getsize(path) > 0)
