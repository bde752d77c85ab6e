from datetime import date, datetime, timedelta, timezone

start = datetime(2024, 2, 28, 22, 30)
for days in (0, 1, 2, 366):
    print((start + timedelta(days=days)).strftime("%Y-%m-%d %a %H:%M"))
print(datetime.strptime("03/04/2021 05:06", "%d/%m/%Y %H:%M").isoformat())
print((date(2025, 1, 1) - date(2024, 1, 1)).days, date(2024, 12, 30).isocalendar())
utc = datetime(2024, 6, 1, 12, tzinfo=timezone.utc)
print(utc.astimezone(timezone(timedelta(hours=8))), utc.timestamp(), datetime.fromtimestamp(0, timezone.utc))
print(max([date(2023, 5, 1), date(2022, 1, 1)]), timedelta(hours=50, seconds=3))
