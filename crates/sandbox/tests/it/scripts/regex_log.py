import re

log = """2024-01-02 10:00:01 ERROR [db] connection lost (code=17)
2024-01-02 10:00:05 INFO  [web] GET /index.html 200
2024-01-02 10:01:00 ERROR [web] GET /missing 404
"""
pattern = re.compile(r"^(?P<day>\S+) (?P<time>\S+) (?P<level>\w+)\s+\[(?P<part>\w+)\] (?P<rest>.*)$", re.M)
for match in pattern.finditer(log):
    print(match["level"], match["part"], match["rest"])
print(re.sub(r"\d+", lambda m: str(int(m[0]) * 2), "a1 b22 c333"))
print(re.split(r"[,;]\s*", "a, b;c,d"), re.findall(r"(?<=@)\w+", "x@one y@two"))
print(bool(re.fullmatch(r"[一-龥]+", "你好")), re.escape("a.b*c"))
