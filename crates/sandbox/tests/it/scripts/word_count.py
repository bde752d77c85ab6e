text = """It was the best of times, it was the worst of times, it was the age of wisdom,
it was the age of foolishness, it was the epoch of belief."""
counts = {}
for word in text.lower().split():
    word = word.strip(",.")
    counts[word] = counts.get(word, 0) + 1
for word, count in sorted(counts.items(), key=lambda item: (-item[1], item[0]))[:6]:
    print(f"{word:10} {'#' * count} {count}")
sentences = [part.strip().capitalize() for part in text.replace("\n", " ").split(",") if part.strip()]
print(len(sentences), sentences[0], max(sentences, key=len))
vowels = str.maketrans("aeiou", "43105")
print(text[:30].translate(vowels), sum(map(str.isalpha, text)))
