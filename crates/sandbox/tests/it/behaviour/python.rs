//! What is put in the place of Python's clocks and randomness behaves as Python's own: subclasses of
//! dates are made by their own rules, and what Python refuses is refused in its words.

use callgate_contract::Stop;

use crate::harness::trial;

const DATES: &str = r#"
import copy, datetime, pickle

class Tagged(datetime.datetime):
    "Keeps something of its own."
    def __new__(cls, *args, **named):
        made = super().__new__(cls, *args, **named)
        made.tag = f"{made.second:02}.{made.microsecond:06}"
        return made

class Strict(datetime.datetime):
    "Takes what the constructor takes, and its own way to read a timestamp is no business of now."
    def __new__(cls, year, month, day, hour=0, minute=0, second=0, microsecond=0, tzinfo=None):
        return super().__new__(cls, year, month, day, hour, minute, second, microsecond, tzinfo)
    @classmethod
    def fromtimestamp(cls, stamp, tz=None):
        raise RuntimeError("not asked for")

class Stamp(datetime.datetime):
    "As pandas.Timestamp: made of anything, with more digits."
    def __new__(cls, value, *rest):
        if isinstance(value, datetime.datetime):
            rest = (value.month, value.day, value.hour, value.minute, value.second,
                    value.microsecond, value.tzinfo)
            value = value.year
        made = super().__new__(cls, value, *rest)
        made.nanosecond = 7
        return made
    @classmethod
    def now(cls, tz=None):
        return cls(datetime.datetime.now(tz))

class Day(datetime.date):
    def __new__(cls, *args):
        made = super().__new__(cls, *args)
        made.name = made.strftime("%A")
        return made

utc = datetime.timezone.utc
east = datetime.timezone(datetime.timedelta(hours=2))
for make in (Tagged.now, Tagged.today, Tagged.utcnow, lambda: Tagged.now(utc),
             lambda: Tagged.now(tz=east), lambda: Tagged.fromtimestamp(1.5),
             lambda: Tagged.combine(Day.today(), datetime.time(1, 2, 3))):
    made = make()
    assert type(made) is Tagged and made.tag == f"{made.second:02}.{made.microsecond:06}", made
    for again in (copy.copy(made), copy.deepcopy(made), pickle.loads(pickle.dumps(made))):
        assert again == made and type(again) is Tagged and again.tag == made.tag
assert Tagged.now(east).tzinfo is east and Tagged.utcnow().tzinfo is None
assert type(Strict.now()) is type(Strict.utcnow()) is Strict
try:
    Strict.today()
except RuntimeError:
    print("today asks for fromtimestamp, as it does everywhere")
assert Stamp.now().nanosecond == Stamp.utcnow().nanosecond == 7
assert type(Day.today()) is Day and Day.today().name.endswith("day")
for cls in (Tagged, Strict, Stamp):
    assert issubclass(cls, datetime.datetime) and isinstance(cls.now(), datetime.date)

# As libraries stop the time.
class Frozen(datetime.datetime):
    @classmethod
    def now(cls, tz=None):
        return cls(2020, 1, 2, 3, 4, 5)
real, datetime.datetime = datetime.datetime, Frozen
assert datetime.datetime.now() == real(2020, 1, 2, 3, 4, 5)
assert type(Frozen.utcnow()) is Frozen and type(real.utcnow()) is real
datetime.datetime = real
print(real.utcnow(), Tagged.utcnow().tag, Day.today(), real.now(utc))
"#;

#[test]
fn a_subclass_of_a_date_is_made_by_its_own_rules() {
    let first = trial(DATES).run();
    first.stops(Stop::Finished);
    assert!(first.report.stdout.starts_with("today asks"));

    let mut readings: Vec<i64> = Vec::new();
    readings.extend(&first.report.clocks);
    let mut again = trial(DATES);
    again.spec.clocks = readings;
    again
        .run()
        .stops(Stop::Finished)
        .prints(&first.report.stdout);
}

#[test]
fn readings_are_whole_microseconds() {
    let mut trial = trial(
        "from datetime import date, datetime, timezone\n\
         print(datetime.utcnow(), datetime.now(timezone.utc).microsecond, datetime.now().microsecond)",
    );
    // Nanoseconds are cut off, never rounded up.
    trial.spec.clocks = vec![
        1_700_000_000_123_456_999,
        1_999_999,
        1_700_000_000_999_999_999,
    ];
    trial
        .run()
        .prints("2023-11-14 22:13:20.123456 1999 999999\n");
}

const REFUSED: &str = r#"
import datetime, os, random, secrets, time, uuid
for attempt in (
    lambda: os.urandom(-1), lambda: os.urandom("8"), lambda: os.urandom(1.5),
    lambda: os.urandom(2**70), lambda: os.urandom(-2**70), lambda: os.urandom(2**40),
    lambda: os.getrandom(-1), lambda: os.getrandom(8, 99), lambda: os.getrandom("8"),
    lambda: secrets.token_bytes(-1), lambda: secrets.token_hex(-1), lambda: secrets.randbelow(0),
    lambda: random.SystemRandom().randbytes(-1), lambda: random.SystemRandom().getrandbits(-1),
    lambda: random.getrandbits(-1), lambda: random.seed([]), lambda: random.Random().seed(object()),
    lambda: time.sleep(-1), lambda: time.localtime("x"), lambda: time.gmtime(10**30),
    lambda: datetime.datetime.now("x"), lambda: uuid.UUID(bytes=os.urandom(3)),
):
    try:
        print("no error", attempt())
    except Exception as error:
        print(type(error).__name__, str(error).splitlines()[:1])
assert os.urandom(0) == b"" and len(os.urandom(True)) == 1 and len(os.getrandom(8, os.GRND_NONBLOCK)) == 8
"#;

/// As the interpreter says it outside.
const IN_ITS_WORDS: &str = r#"ValueError ['negative argument not allowed']
TypeError ["'str' object cannot be interpreted as an integer"]
TypeError ["'float' object cannot be interpreted as an integer"]
OverflowError ['Python int too large to convert to C ssize_t']
OverflowError ['Python int too large to convert to C ssize_t']
MemoryError []
OSError ['[Errno 22] Invalid argument']
OSError ['[Errno 22] Invalid argument']
TypeError ["'str' object cannot be interpreted as an integer"]
ValueError ['negative argument not allowed']
ValueError ['negative argument not allowed']
ValueError ['Upper bound must be positive.']
ValueError ['negative argument not allowed']
ValueError ['number of bits must be non-negative']
ValueError ['number of bits must be non-negative']
TypeError ['The only supported seed types are: None,']
TypeError ['The only supported seed types are: None,']
ValueError ['sleep length must be non-negative']
TypeError ["'str' object cannot be interpreted as an integer"]
OverflowError ['timestamp out of range for platform time_t']
TypeError ["tzinfo argument must be None or of a tzinfo subclass, not type 'str'"]
ValueError ['bytes is not a 16-char string']
"#;

#[test]
fn what_python_refuses_is_refused_in_its_words() {
    trial(REFUSED)
        .run()
        .stops(Stop::Finished)
        .prints(IN_ITS_WORDS);
}
