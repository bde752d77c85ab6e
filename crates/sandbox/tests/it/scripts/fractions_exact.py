from fractions import Fraction
from math import comb, gcd, isqrt, lcm, prod

harmonic = sum(Fraction(1, n) for n in range(1, 21))
print(harmonic, float(harmonic), Fraction("0.125"), Fraction(3.14159).limit_denominator(1000))
print(gcd(84, 36), lcm(4, 6, 10), comb(50, 6), prod(range(1, 16)), isqrt(10**40 + 1))
print(2**200, divmod(-7, 3), pow(3, -1, 11), 10**30 // 7, hash(Fraction(1, 2)) == hash(0.5))
