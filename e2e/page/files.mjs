// Files that people hand in, made from nothing: a ZIP, and a picture that carries a character card.
import { deflateSync } from "node:zlib";

const TABLE = Array.from({ length: 256 }, (_, byte) => {
  for (let bit = 0; bit < 8; bit++) byte = byte & 1 ? 0xedb88320 ^ (byte >>> 1) : byte >>> 1;
  return byte >>> 0;
});

function crc(bytes) {
  let sum = 0xffffffff;
  for (const byte of bytes) sum = TABLE[(sum ^ byte) & 255] ^ (sum >>> 8);
  return (sum ^ 0xffffffff) >>> 0;
}

/** `files`: text by path. Nothing is compressed. */
export function zip(files) {
  const [pieces, entries] = [[], []];
  let offset = 0;
  for (const [path, text] of Object.entries(files)) {
    const [name, body] = [Buffer.from(path), Buffer.from(text)];
    const about = Buffer.alloc(26);
    about.writeUInt16LE(20, 0);
    about.writeUInt32LE(crc(body), 10);
    about.writeUInt32LE(body.length, 14);
    about.writeUInt32LE(body.length, 18);
    about.writeUInt16LE(name.length, 22);
    const entry = Buffer.alloc(46);
    entry.write("PK\x01\x02", "latin1");
    about.copy(entry, 6);
    entry.writeUInt32LE(offset, 42);
    entries.push(entry, name);
    const local = [Buffer.from("PK\x03\x04", "latin1"), about, name, body];
    pieces.push(...local);
    offset += local.reduce((all, piece) => all + piece.length, 0);
  }
  const index = Buffer.concat(entries);
  const end = Buffer.alloc(22);
  end.write("PK\x05\x06", "latin1");
  end.writeUInt16LE(entries.length / 2, 8);
  end.writeUInt16LE(entries.length / 2, 10);
  end.writeUInt32LE(index.length, 12);
  end.writeUInt32LE(offset, 16);
  return Buffer.concat([...pieces, index, end]);
}

/** A picture of one pixel that carries `card`, as programs for character cards write it. */
export function cardPicture(card) {
  const chunk = (kind, data) => {
    const body = Buffer.concat([Buffer.from(kind, "latin1"), data]);
    const [size, sum] = [Buffer.alloc(4), Buffer.alloc(4)];
    size.writeUInt32BE(data.length);
    sum.writeUInt32BE(crc(body));
    return Buffer.concat([size, body, sum]);
  };
  const head = Buffer.from([0, 0, 0, 1, 0, 0, 0, 1, 8, 2, 0, 0, 0]);
  const text = Buffer.from(`chara\0${Buffer.from(JSON.stringify(card)).toString("base64")}`, "latin1");
  const chunks = [chunk("IHDR", head), chunk("tEXt", text), chunk("IDAT", deflateSync(Buffer.alloc(4))), chunk("IEND", Buffer.alloc(0))];
  return Buffer.concat([Buffer.from("\x89PNG\r\n\x1a\n", "latin1"), ...chunks]);
}
