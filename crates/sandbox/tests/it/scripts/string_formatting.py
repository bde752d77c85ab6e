import string

rows = [("apple", 1.5, 3), ("kiwi", 0.25, 12), ("pineapple", 3, 1)]
for name, price, count in rows:
    print(f"{name:<12}|{price:>8.2f}|{count:^5d}|{price * count:08.3f}|{price!r:>6}")
print("%s has %d items (%.1f%%) %5s|%-5s|%x" % ("cart", 3, 99.5, "r", "l", 255))
print("{0} {1} {0} {name!r:>8} {value:+,}".format("a", "b", name="n", value=1234567))
print(f"{255:#x} {255:b} {1e10:.3g} {0.000012:e} {1234.5:_.1f} {'中文':*^10} {[1, 2]=}")
print(string.Template("$who owes ${amount} dollars, $$").substitute(who="Tim", amount=5))
print("a-b-c".partition("-"), "x,y,,z".split(","), " pad ".strip().center(9, "."), "Straße".casefold(), "abc"[::-1])
