import unicodedata
from collections import Counter

text = "春眠不觉晓，处处闻啼鸟。夜来风雨声，花落知多少。"
print(len(text), len(text.encode()), text[:5], text[::-1][:6])
print(Counter(text).most_common(3))
for line in text.strip("。").split("。"):
    print(line.replace("，", "\t"))
width = sum(2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in "a你好b")
print(width, unicodedata.name("你"), unicodedata.normalize("NFKC", "ＡＢＣ①㍿"))
print("é" == unicodedata.normalize("NFC", "e\u0301"), ascii("日本語"), "👨‍👩‍👧", len("👨‍👩‍👧"))
open("shared/诗.txt", "w", encoding="utf-8").write(text)
print(open("shared/诗.txt", encoding="utf-8").read() == text, "한국어".encode("utf-16-le").hex())
