from collections import ChainMap, Counter, OrderedDict, defaultdict, deque, namedtuple

text = "the quick brown fox jumps over the lazy dog the end"
print(Counter(text.split()).most_common(2), Counter("abca") - Counter("a"))
index = defaultdict(list)
for word in text.split():
    index[len(word)].append(word)
print(dict(index))
window = deque(maxlen=3)
for n in range(6):
    window.append(n)
window.rotate(1)
print(window, OrderedDict(a=1, b=2).popitem(last=False))
Point = namedtuple("Point", "x y", defaults=[0])
print(Point(1), Point(3, 4)._replace(y=9)._asdict(), ChainMap({"a": 1}, {"a": 2, "b": 3})["b"])
