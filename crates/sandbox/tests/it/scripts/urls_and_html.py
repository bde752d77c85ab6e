import html
from html.parser import HTMLParser
from urllib.parse import parse_qs, quote, unquote, urlencode, urljoin, urlsplit

url = "https://user@example.com:8443/a/b%20c?q=1&q=2&lang=zh#top"
parts = urlsplit(url)
print(parts.hostname, parts.port, parts.path, parse_qs(parts.query), parts.fragment)
print(urlencode({"q": "你好 world", "n": 1}), quote("a/b c&d"), unquote("%E4%BD%A0"), urljoin(url, "../x?y"))
print(html.escape('<a href="x">&</a>'), html.unescape("&lt;p&gt; &eacute; &#128512;"))


class Links(HTMLParser):
    def __init__(self):
        super().__init__()
        self.found, self.text = [], []

    def handle_starttag(self, tag, attributes):
        if tag == "a":
            self.found.append(dict(attributes).get("href"))

    def handle_data(self, data):
        if data.strip():
            self.text.append(data.strip())


parser = Links()
parser.feed("<ul><li><a href='/one'>One</a><li><a href='/two'>Two</a> more</ul>")
print(parser.found, parser.text)
