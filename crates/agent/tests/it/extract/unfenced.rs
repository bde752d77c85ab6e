//! No fence at all: a message, unless it is unmistakably a script.

use super::check;

#[test]
fn prose_is_a_message() {
    for said in [
        "",
        "Hello! How can I help?",
        "x = 5",
        "The answer is:\n\nx = 5",
        "y = 2*x + 1\nz = f(2)",
        "f(2)",
        "sin(0.5)",
        "E = mc^2",
        "status = \"ok\"",
        "haha(lol)",
        "你好(笑)",
        "好的，我马上看一下。",
        "明日は晴れです。",
        "if you want to know more:\n\nask me",
        "for example: in the morning",
        "import taxes are high",
        "from here on, import nothing",
        "with care:\n    print it",
        "# Title\n\nA paragraph.",
        "- one\n- two",
        "| a | b |\n|---|---|",
        "{\"name\": \"send_message\", \"arguments\": {\"text\": \"hi\"}}",
        "Use print(\"x\") to print.",
        "print(\"x\") prints x",
        "import os\n\nThis imports the module os.",
        "Note: done",
        "Temperature: 20 = fine",
        "sure, here you go",
        "return soon",
        "pass",
        "name = What is your name?",
        "result = it works",
        "I did it: send_message(\"hi\")",
        "don't",
        "(smiles)",
        "OK",
    ] {
        check(said, said, None);
    }
}

#[test]
fn an_unmistakable_script_is_run() {
    for script in [
        "send_message(\"Hello\")",
        "import math\nprint(math.pi)",
        "from datetime import datetime, timedelta as delta\nx = datetime.now()\nprint(f\"{x}\")",
        "print(search_methods(\"weather\"))\nexit(9)",
        "weather = get_weather(city=\"Paris\")\nsend_message(f\"It's {weather['temp']} there\")",
        "# look first\nfor name in [\"a\", \"b\"]:\n    text = read(name)\n    if not text: continue\n    send_message(text)",
        "try:\n    f(\"x\")\nexcept MethodError as error:\n    print(error); exit(9)",
        "def area(r: float) -> float:\n    \"\"\"Of a circle.\"\"\"\n    return 3.14 * r ** 2\n\nsend_message(str(area(2)))",
        "text = \"\"\"\nDear all,\n\nIt is done.\n\"\"\"\nsend_message(text)",
        "send_message(\n    \"long\",\n)",
        "a, b = 1, 2\ndata[\"x\"] = a\ncounts[a] += 1\nprint(a if a > b else b)",
        "path: str = '/app/shared/a.txt'\nwith open(path) as file:\n    print(file.read()[:100])\nexit(9)",
        "import json, os\nrows = [r for r in json.load(open('x')) if r.get('ok') and r[\"n\"] >= 3]\nprint(*rows, sep='\\n')",
        "send_message(\", \".join(sorted(names)))",
        "async def main():\n    await go()\n\nimport asyncio\nasyncio.run(main())",
    ] {
        check(script, "", Some(script));
    }
}
