#!/usr/bin/env python3
"""Uploads broken variants of small tables with on_error=repair and compares the stored rows with the table.

    polluted.py URL [ON_ERROR [KIND...]]

Each variant has one fault of one kind. Prints for each kind the share of variants from which header and cells were
recovered exactly, and the first that were not. With on_error=repair, exits 1 if a share is below its minimum."""
import csv
import io
import random
import sys
import urllib.error
import urllib.request
from concurrent.futures import ThreadPoolExecutor

# The least share of variants that must be recovered; 1 for kinds that are not listed.
LEAST = {}


def tables():
    """Name -> (header, rows, whether all texts are quoted). Texts of the first have delimiters, quotes and line ends."""
    chance = random.Random(7)
    towns = ["Ulm", "Bad Tölz", "Köln", "New York", "Rio de Janeiro", "Orléans"]
    notes = ["", "ok", "see page 7", "red, green, blue", 'called "the old one"', "first line\nsecond line", "paid late"]
    orders = [[str(i + 1), chance.choice(["Meyer", "Smith", "O'Neil", "de Boer"]) + ", " + chance.choice("ABCDE") + ".",
               chance.choice(towns), f"{chance.randrange(100, 99999) / 4:g}" if i % 9 else "",
               f"20{chance.randrange(10, 25)}-{chance.randrange(1, 13):02}-{chance.randrange(1, 29):02}",
               notes[i % len(notes)]] for i in range(45)]
    words = [[w, chance.choice(["red", "green", "blue"]), chance.choice(["very large", "small", "of middle size"])]
             for w in "ant bee cat dog eel fox gnu hen ibis jay kite lynx mole newt owl pig".split()]
    numbers = [[f"{chance.gauss(5, 2):.3f}" if j else str(2000 + i) for j in range(8)] + [chance.choice(["yes", "no", "maybe"])]
               for i in range(60)]
    return {"orders": (["id", "customer", "town", "amount", "date", "note"], orders, False),
            "quoted": (["id", "customer", "town", "amount", "date", "note"], orders, True),
            "all": (["DATE", "TIME", "Qty", "PRODUCTID", "ProductName", "Comments", "URL", "Price"],
                    [[f"{i % 28 + 1:02}.{i % 12 + 1:02}.2020", f"{i % 24:02}:{i * 7 % 60:02}", str(i * 37 % 11), f"P-{i * 7919 % 1000:03}",
                      ["Soap, liquid", "Towel", "10\" pipe", "Lamp"][i % 4], ["", "", "to check: urgent; please\ncall", "none"][i // 3 % 4],
                      f"http://shop.example/p?id={i}&x=1", f"{i * 13 % 97 + 0.25}"] for i in range(80)], "all"),
            "words": (["animal", "colour", "size"], words, False),
            "numbers": ([f"x{j}" for j in range(8)] + ["class"], numbers, False)}


def cell(text, delimiter, quote, escape, always):
    needed = quote in text or "\n" in text or "\r" in text or delimiter in text or delimiter.strip() and delimiter.strip() in text \
        or delimiter == " " and " " in text or text.startswith(" ")
    if not needed and always != "all" and not (always and text and not text.replace(".", "").replace("-", "").isdigit()):
        return text
    if escape != quote:
        text = text.replace(escape, escape + escape)
    return quote + text.replace(quote, escape + quote) + quote


def write(rows, delimiter=",", quote='"', escape=None, always=False, end="\n"):
    escape = escape or quote
    return "".join(delimiter.join(cell(c, delimiter, quote, escape, always) for c in row) + end for row in rows)


def lines(header, rows, always):
    """The lines of the body, each with its cells as written."""
    return [[cell(c, ",", '"', '"', always) for c in row] for row in [header] + rows]


def body(written):
    return "".join(",".join(row) + "\n" for row in written)


def variants(name, header, rows, always):
    """Yields kind, label, body, and the header and rows to recover; None: the body has to be refused."""
    table = [header] + rows
    clean = (header, rows)
    for d in [";", "\t", "|", " ", "^", "~", ":", "#", "&", "@", "!", "*", "\x1f", "\x02", "¦", "§", ", ", "; ", "||", "::", ";;", " | "]:
        yield "delimiter", repr(d), write(table, delimiter=d, always=always), clean
    for q in "'`~|^":
        yield "quote", q, write(table, quote=q, always=always), clean
    for q in "'~":
        yield "quote", "; " + q, write(table, delimiter=";", quote=q, always=always), clean
    for e in "\\^~/":
        yield "escape", e, write(table, escape=e, always=always), clean
    text = write(table, always=always)
    for label, end in {"CR": "\r", "CRLF": "\r\n", "LF": "\n"}.items():
        yield "record end", label, write(table, always=always, end=end), clean
        yield "record end", label + " without the last", write(table, always=always, end=end)[:-len(end)], clean
        yield "record end", label + " and blank lines", write(table, always=always, end=end) + end * 3, clean
    mixed = "".join(write([row], always=always, end=["\n", "\r\n"][i % 2]) for i, row in enumerate(table))
    yield "record end", "mixed", mixed, clean
    yield "record end", "BOM", "\ufeff" + text, clean
    units = [["unit " + h for h in header]]
    yield "header", "one data row", write(table[:2], always=always), (header, rows[:1])
    yield "header", "only", write(table[:1], always=always), None
    yield "header", "empty body", "", None
    if name != "words":
        yield "header", "none", write(rows, always=always), ([f"c{i + 1}" for i in range(len(header))], rows)
        yield "header", "two lines", write([header] + units + rows, always=always), \
            ([h + " " + u for h, u in zip(header, units[0])], rows)
        yield "header", "three lines", write([header] + units * 2 + rows, always=always), \
            ([h + " " + u + " " + u for h, u in zip(header, units[0])], rows)
    written = lines(header, rows, always)
    yield "header", "trailing delimiter", ",".join(written[0]) + ",\n" + body(written[1:]), clean
    yield "header", "trailing delimiters of the rows", ",".join(written[0]) + "\n" + "".join(
        ",".join(row) + ",\n" for row in written[1:]), clean
    padding = "," * (len(header) - 1)
    for label, above in {"title": "Sales of the year\n", "two": "Sales\nof the year 2020\n", "blank": "Sales of the year\n\n",
                         "comma": "Sales, and more\n\n", "padded": "Sales" + padding + "\n",
                         "padded, blank": "Sales" + padding + "\nof 2020" + padding + "\n" + padding + "\n",
                         "four": "File x.csv\nCreated 2020-01-01\nBy me\n\n"}.items():
        yield "preamble", label, above + text, clean
    for label, below in {"total": "Total of all\n", "two": "Source: the office\nCreated 2020\n", "blank": "\nSource: the office\n",
                         "end": "\n\nEnd of file.", "padding": padding + "\nEnd of the table" + padding + "\n", "padded, blank": "\nEnd of the table" + padding + "\n"}.items():
        yield "footer", label, text + below, clean
    if len(header) > 3:
        yield "footer", "padded", text + "End of the table" + padding + "\n", clean
    for gap, label in {"\n": "blank", "": "no blank", padding + "\n": "padding", "\nThe next table\n": "title"}.items():
        less = [["key", "value"]] + [[str(i), f"{i * i}.5"] for i in range(10)]
        more = [[f"col{i}" for i in range(12)]] + [[str(i * j) for i in range(12)] for j in range(1, 10)]
        same = [["p" + h for h in header]] + rows[:9]
        yield "second table", "less, " + label, text + gap + write(less), clean
        yield "second table", "more, " + label, text + gap + write(more), clean
        if name != "words":
            yield "second table", "same, " + label, text + gap + write(same, always=always), clean
    faulty = [list(row) for row in written]
    for c in range(len(header)):
        faulty[0] = written[0][:c + 1] + [""] + written[0][c + 1:]
        yield "header with one delimiter more", str(c), body(faulty), clean
        for at in (0, 1, len(header[c])):
            faulty[0] = list(written[0])
            faulty[0][c] = header[c][:at] + '"' + header[c][at:]
            names = header[:c] + [faulty[0][c]] + header[c + 1:]
            yield "extra quote in the header", f"{c},{at}", body(faulty), [(names, rows), (header, rows)]
    if name != "words":
        for d in " :^":
            yield "header with another delimiter", repr(d), d.join(header) + "\n" + body(written[1:]), clean
    for c in range(len(header) - 1):
        faulty[0] = written[0][:c] + [header[c] + header[c + 1]] + written[0][c + 2:]
        names = header[:c] + [header[c] + header[c + 1]] + header[c + 2:]
        yield "header with one delimiter less", str(c), body(faulty), (names + [f"c{len(header)}"], rows)
    for r in range(1, len(written), 4):
        for d in ";\t|" + ("" if name == "words" else " "):
            faulty = [",".join(row) + "\n" for row in written]
            faulty[r] = write([rows[r - 1]], delimiter=d, always=always)
            yield "row with another delimiter", f"{r},{d!r}", "".join(faulty), clean
        faulty = [",".join(row) + "\n" for row in written]
        faulty[r] = write([rows[r - 1]], quote="'", always=name == "quoted")
        if "'" in faulty[r] and "," in "".join(rows[r - 1]):
            yield "row with another quote", str(r), "".join(faulty), clean
        faulty[r] = write([rows[r - 1]], escape="\\", always=always)
        if "\\" in faulty[r]:
            yield "row with another escape", str(r), "".join(faulty), clean
        faulty[r] = write([rows[r - 1]], always=always, end="\r\n")
        yield "row with another end", str(r), "".join(faulty), clean
        for c in range(0, len(header) - 1):
            faulty = [list(row) for row in written]
            if '"' not in faulty[r][c] + faulty[r][c + 1]:
                faulty[r][c:c + 2] = [faulty[r][c] + faulty[r][c + 1]]
                yield "row with one delimiter less", f"{r},{c}", body(faulty), \
                    (header, rows[:r - 1] + [[rows[r - 1][i] for i in range(c)] + [faulty[r][c]] + rows[r - 1][c + 2:]] + rows[r:])
            elif any("," in t or "\n" in t for t in rows[r - 1][c:c + 2]):
                faulty[r][c:c + 2] = [faulty[r][c] + faulty[r][c + 1]]
                a, b = rows[r - 1][c:c + 2]
                yield "row with one delimiter less beside a quoted cell", f"{r},{c}", body(faulty), \
                    [(header, rows[:r - 1] + [rows[r - 1][:c] + [joined] + rows[r - 1][c + 2:]] + rows[r:])
                     for joined in (faulty[r][c], a + b, a + '"' + b)]
        for c in range(0, len(header)):
            faulty = [list(row) for row in written]
            faulty[r].insert(c + 1, "")
            yield "row with one delimiter more", f"{r},{c}", body(faulty), clean
            if '"' in written[r][c] and "," in rows[r - 1][c] and '""' not in written[r][c] and "\n" not in written[r][c]:
                faulty = [list(row) for row in written]
                faulty[r][c] = rows[r - 1][c]
                yield "unquoted delimiter", f"{r},{c}", body(faulty), clean
            if written[r][c].startswith('"') and "\n" not in written[r][c]:
                faulty = [list(row) for row in written]
                faulty[r][c] = written[r][c][:-1]
                yield "quote missing at the end", f"{r},{c}", body(faulty), clean
                faulty[r][c] = written[r][c][1:]
                yield "quote missing at the beginning", f"{r},{c}", body(faulty), clean
                if '""' in written[r][c]:
                    faulty[r][c] = '"' + rows[r - 1][c] + '"'
                    yield "unescaped quote", f"{r},{c}", body(faulty), clean
                else:
                    faulty[r][c] = '"' + rows[r - 1][c][:2] + '"' + rows[r - 1][c][2:] + '"'
                    yield "unescaped quote", f"{r},{c}", body(faulty), (header, replaced(rows, r, c, rows[r - 1][c][:2] + '"' + rows[r - 1][c][2:]))
            elif written[r][c] and not written[r][c].startswith('"'):
                for at in (0, 1, len(written[r][c])):
                    faulty = [list(row) for row in written]
                    faulty[r][c] = written[r][c][:at] + '"' + written[r][c][at:]
                    yield "extra quote", f"{r},{c},{at}", body(faulty), (header, replaced(rows, r, c, faulty[r][c]))


def replaced(rows, r, c, text):
    return rows[:r - 1] + [rows[r - 1][:c] + [text] + rows[r - 1][c + 1:]] + rows[r:]


def request(url, method="GET", data=None, accept="application/json"):
    call = urllib.request.Request(url, data=data, method=method, headers={"Accept": accept, "Content-Type": "text/csv"})
    try:
        with urllib.request.urlopen(call, timeout=60) as reply:
            return reply.status, reply.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()


def stored(url, name, text, on_error):
    """The rows that the service has of the body; the status of a refusal."""
    status, answer = request(f"{url}/v1/datasets/{name}?on_error={on_error}", "PUT", text.encode())
    if status >= 300:
        return status, answer
    rows = list(csv.reader(io.StringIO(request(f"{url}/v1/datasets/{name}/rows", accept="text/csv")[1])))
    request(f"{url}/v1/datasets/{name}", "DELETE")
    return status, rows


def same(expected, found):
    """Whether the cells are equal: as texts, or as numbers. An empty cell may be anywhere in a row that lacks one."""
    def plain(row):
        out = []
        for text in row:
            try:
                out.append(float(text))
            except ValueError:
                out.append(text.strip())
        return out
    if [plain(r) for r in expected[:1]] != [plain(r) for r in found[:1]] or len(expected) != len(found):
        return False
    for e, f in zip(expected[1:], found[1:]):
        e, f = plain(e), plain(f)
        if e != f and not (len(e) < len(f) and [c for c in e if c != ""] == [c for c in f if c != ""]):
            return False
    return True


def check(job):
    url, number, name, kind, label, text, wanted, on_error = job
    status, found = stored(url, f"polluted-{number}", text, on_error)
    if wanted is None:
        return kind, 400 <= status < 500, f"{name} {label}: {status}"
    if isinstance(wanted, list):
        wanted = next((w for w in wanted if status < 300 and same([w[0]] + w[1], found)), wanted[0])
    well = status < 300 and same([wanted[0]] + wanted[1], found)
    return kind, well, f"{name} {label}: " + (str(found)[:300] if status >= 300 else difference(wanted, found))


def difference(wanted, found):
    for e, f in zip([wanted[0]] + wanted[1], found):
        if e != f and not same([["x"], e], [["x"], f]):
            return f"expected {e}, found {f}"
    return f"expected {len(wanted[1])} rows, found {len(found) - 1}"


def main():
    url, on_error, kinds = sys.argv[1], (sys.argv + ["repair"])[2], sys.argv[3:]
    jobs, shares, failed = [], {}, {}
    for name, (header, rows, always) in tables().items():
        for kind, label, text, wanted in variants(name, header, rows, always):
            if not kinds or kind in kinds:
                jobs.append((url, len(jobs), name, kind, label, text, wanted, on_error))
    with ThreadPoolExecutor(4) as pool:
        for kind, well, text in pool.map(check, jobs):
            shares.setdefault(kind, []).append(well)
            if not well:
                failed.setdefault(kind, []).append(text)
    bad = 0
    for kind, well in shares.items():
        share = sum(well) / len(well)
        below = on_error == "repair" and share < LEAST.get(kind, 1)
        bad += below
        print(f"{'FAILED ' if below else ''}{kind}: {sum(well)} of {len(well)} recovered")
        for text in failed.get(kind, [])[:6 if on_error == "repair" else 0]:
            print("   ", text)
    print(f"{sum(map(sum, shares.values()))} of {len(jobs)}")
    return bad > 0


sys.exit(main())
