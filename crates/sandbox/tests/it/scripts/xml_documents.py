import xml.etree.ElementTree as ET
from xml.dom import minidom

document = ET.fromstring("""<library>
  <book id="1" lang="en"><title>Dune</title><price>9.5</price></book>
  <book id="2" lang="zh"><title>三体</title><price>12</price></book>
</library>""")
for book in document.findall("book"):
    print(book.get("id"), book.findtext("title"), float(book.find("price").text))
print([title.text for title in document.iter("title")], document.find("book[@lang='zh']/title").text)
root = ET.Element("root", version="1")
ET.SubElement(root, "child").text = "a < b & c"
print(ET.tostring(root, encoding="unicode"))
print(minidom.parseString(ET.tostring(root)).toprettyxml(indent="  "))
try:
    ET.fromstring("<a><b></a>")
except ET.ParseError as error:
    print("bad xml:", error)
