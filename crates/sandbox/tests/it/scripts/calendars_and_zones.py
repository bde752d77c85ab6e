import calendar
from datetime import datetime
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

print(calendar.month(2024, 2), calendar.isleap(1900), calendar.monthrange(2023, 2))
moment = datetime(2024, 3, 10, 6, 30, tzinfo=ZoneInfo("UTC"))
for name in ("America/New_York", "Europe/Berlin", "Asia/Shanghai", "Asia/Kolkata"):
    print(name, moment.astimezone(ZoneInfo(name)).strftime("%Y-%m-%d %H:%M %Z %z"))
later = datetime(2024, 11, 3, 1, 30, tzinfo=ZoneInfo("America/New_York"))
print(later.utcoffset(), later.replace(fold=1).utcoffset())
try:
    ZoneInfo("Mars/Olympus")
except ZoneInfoNotFoundError as error:
    print(type(error).__name__)
print([day.isoformat() for day in calendar.Calendar().itermonthdates(2024, 2)][:3], calendar.day_name[0])
