"""Reads or generates web archives with warcio, to compare with. Needs warcio and brotli."""
import gzip, io, os, random, sys, zlib
import brotli
import warcio.bufferedreaders
from warcio.archiveiterator import ArchiveIterator
from warcio.statusandheaders import StatusAndHeaders
from warcio.warcwriter import WARCWriter


class Brotli:
    """warcio sets a member that the decoder of brotli 1.1 does not take."""
    unused_data = None

    def __init__(self):
        self.decoder = brotli.Decompressor()

    def decompress(self, data):
        return self.decoder.process(data)


warcio.bufferedreaders.BufferedReader.DECOMPRESSORS["br"] = Brotli


def read(path):
    """Prints type, URL, length, and CRC-32 of the payload of each record."""
    with open(path, "rb") as file:
        for record in ArchiveIterator(file):
            url = record.rec_headers.get_header("WARC-Target-URI") or record.rec_headers.get_header("uri")
            payload = record.content_stream().read()
            print(path, record.rec_type, url or "-", len(payload), zlib.crc32(payload), sep="\t")


def encode(rng, body):
    """Encodes a body with a random content encoding; gives its name too."""
    name = rng.choice(["", "gzip", "x-gzip", "deflate", "raw", "br", "identity"])
    if name in ("gzip", "x-gzip"):
        return name if name == "gzip" else "gzip", gzip.compress(body)
    if name == "deflate":
        return "deflate", zlib.compress(body)
    if name == "raw":
        raw = zlib.compressobj(6, zlib.DEFLATED, -15)
        return "deflate", raw.compress(body) + raw.flush()
    if name == "br":
        return "br", brotli.compress(body, quality=4)
    return name, body


def chunked(rng, body):
    """A body in chunks of random sizes."""
    out, at = [], 0
    while at < len(body):
        size = rng.choice([10, 1000, 50000])  # warcio takes raw deflate for plain after a chunk of one byte
        part = body[at:at + size]
        out.append(b"%x%s\r\n%s\r\n" % (len(part), rng.choice([b"", b";a=b"]), part))
        at += size
    return b"".join(out) + b"0\r\n\r\n"


def some_bytes(rng):
    """Text or random bytes."""
    size = rng.choice([0, 1, 10, 1000, 70000, rng.randrange(200000)])
    if rng.random() < 0.3:
        return rng.randbytes(size)
    words = ["a", "page", "of", "WARC/1.0", "\n", "\r\n", "\r\n\r\n", "é", "<b>", "\nWARC/1.0\r\n"]
    return " ".join(rng.choice(words) for _ in range(size // 4)).encode()


def http_headers(rng, body):
    """The header of a response, and its body as it was sent."""
    name, sent = encode(rng, body)
    headers = [("Content-Type", rng.choice(["text/html", "text/plain; charset=utf-8", "image/png"]))]
    if name:
        headers.append((rng.choice(["Content-Encoding", "content-encoding"]), name))
    if rng.random() < 0.4 and sent:
        headers.append(("Transfer-Encoding", "chunked"))
        sent = chunked(rng, sent)
    else:
        headers.append(("Content-Length", str(len(sent))))
    status = rng.choice(["200 OK", "404 Not Found", "301 Moved"])
    return StatusAndHeaders(status, headers, protocol="HTTP/1.1"), sent


def write_record(rng, writer, at):
    """Writes a record of a random type."""
    url = "http://example%d.com/page?%d" % (at % 7, at)
    kind = rng.choice(["response"] * 6 + ["resource", "conversion", "metadata", "request", "revisit"])
    body = some_bytes(rng)
    if kind == "response":
        headers, sent = http_headers(rng, body)
        payload = io.BytesIO(sent)
        writer.write_record(writer.create_warc_record(url, kind, payload=payload, http_headers=headers))
    elif kind == "request":
        headers = StatusAndHeaders("GET / HTTP/1.1", [("Host", "a")], is_http_request=True)
        writer.write_record(writer.create_warc_record(url, kind, http_headers=headers))
    elif kind == "revisit":
        digest = "sha1:B6QJ6BNJ3R4B23XXMRKZKHLPGJY2VE4O"
        writer.write_record(writer.create_revisit_record(url, digest, url, "2020-01-01T00:00:00Z"))
    else:
        writer.write_record(writer.create_warc_record(
            url, kind, payload=io.BytesIO(body), warc_content_type=rng.choice(["text/plain", "text/html"])))


def generate(folder, seed):
    """Writes files of WARC 1.0 and 1.1, and of ARC."""
    rng = random.Random(seed)
    for number in range(4):
        path = os.path.join(folder, "generated-%d.warc" % number)
        with open(path, "wb") as file:
            writer = WARCWriter(file, gzip=False, warc_version=rng.choice(["1.0", "1.1"]))
            writer.write_record(writer.create_warcinfo_record("a.warc", {"software": "test"}))
            for at in range(60):
                write_record(rng, writer, at)
    with open(os.path.join(folder, "generated.arc"), "wb") as file:
        description = b"1 0 Test\nURL IP-address Archive-date Content-type Archive-length\n\n"
        head = b"filedesc://a.arc 0.0.0.0 20140216050221 text/plain %d\n"
        file.write(head % len(description) + description + b"\n")
        for at in range(60):
            body = some_bytes(rng)
            name, sent = encode(rng, body)
            coding = b"Content-Encoding: %s\r\n" % name.encode() if name else b""
            block = b"HTTP/1.0 200 OK\r\nContent-Type: text/html\r\n" + coding + b"\r\n" + sent
            line = b"http://example.com/%d 1.2.3.4 20140216050221 text/html %d\n" % (at, len(block))
            file.write(line + block + b"\n")


if sys.argv[1] == "generate":
    generate(sys.argv[2], int(sys.argv[3]))
else:
    for path in sys.argv[2:]:
        try:
            read(path)
        except Exception as error:
            print(path, "error", repr(error), 0, 0, sep="\t")
