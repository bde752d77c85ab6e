import itertools as it
import operator

print(["".join(p) for p in it.permutations("abc", 2)], list(it.combinations(range(4), 2)))
print(list(it.accumulate([1, 2, 3, 4], operator.mul)), list(it.chain.from_iterable([[1], [2, 3]])))
words = sorted(["apple", "avocado", "bean", "beet", "corn"], key=len)
for size, group in it.groupby(words, len):
    print(size, list(group))
print(list(it.zip_longest("ab", [1, 2, 3], fillvalue="-")), list(it.pairwise([1, 4, 9])))
print(list(it.takewhile(lambda n: n < 10, (n * n for n in it.count()))), list(it.islice(it.cycle("xyz"), 7)))
print(len(list(it.product([0, 1], repeat=6))), [len(list(p)) for p in it.tee(range(3), 2)])
