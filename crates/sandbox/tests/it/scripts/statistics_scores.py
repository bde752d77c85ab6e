import math
import statistics as st

scores = [88, 92, 79, 93, 85, 79, 100, 67]
print(st.mean(scores), st.median(scores), st.mode(scores), round(st.stdev(scores), 6), st.pvariance(scores))
print(st.quantiles(scores, n=4), st.multimode("aabbc"), st.fmean([0.1] * 10), st.geometric_mean([1, 10, 100]))
print(round(st.correlation([1, 2, 3, 4], [2, 4, 5, 9]), 6), st.linear_regression([1, 2, 3], [2, 4, 6]))
print(round(st.NormalDist(100, 15).cdf(130), 6), math.hypot(3, 4), math.fsum([0.1] * 10))
