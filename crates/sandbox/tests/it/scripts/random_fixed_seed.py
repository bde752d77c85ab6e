import random

random.seed(42)
print(random.random(), random.randint(1, 6), random.choice("abc"), random.sample(range(50), 5))
deck = [f"{rank}{suit}" for suit in "♠♥♦♣" for rank in "23456789TJQKA"]
random.shuffle(deck)
print(deck[:8], random.choices(["w", "l"], weights=[3, 1], k=6))
generator = random.Random("text seed")
print([round(generator.gauss(0, 1), 4) for _ in range(3)], generator.getrandbits(64), generator.uniform(1, 2))
inside = sum(generator.random() ** 2 + generator.random() ** 2 < 1 for _ in range(20_000))
print("pi is about", 4 * inside / 20_000)
state = random.getstate()
first = random.random()
random.setstate(state)
print(random.random() == first)
