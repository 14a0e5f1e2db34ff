/* Makes NDJSON of a JSON document of rows, chunk by chunk: [row, …], {"instances": [row, …]} or
 * {"columns": [name, …], "rows": [[value, …], …]}. Each row becomes a line with the text that it
 * has in the document; a row of "rows" becomes an object. */
const code = (character) => character.charCodeAt(0);
const [QUOTE, BACKSLASH, COMMA, SPACE] = [...'"\\, '].map(code);
const [OPEN_ARRAY, CLOSE_ARRAY, OPEN, CLOSE] = [...'[]{}'].map(code);
const NEWLINE = 10;
const BLANKS = new Set([9, NEWLINE, 13, SPACE]);
const MARK = new Set([0xef, 0xbb, 0xbf]); /* the mark of UTF-8 */
const LONGEST_HEAD = 16 * 1024 * 1024; /* bytes before the rows */
const LONGEST_ROW = 64 * 1024 * 1024;
const FORMS = 'a JSON file has its rows as an array, as {"instances": […]} or as ' +
    '{"columns": […], "rows": […]}';

/* Follows strings and brackets. */
class Nesting {
    constructor() {
        this.depth = 0;
        this.inString = false;
        this.escaped = false;
    }

    /* Returns whether the byte belongs to a string. */
    take(byte) {
        if (this.inString) {
            this.inString = this.escaped || byte !== QUOTE;
            this.escaped = !this.escaped && byte === BACKSLASH;
            return true;
        }
        this.inString = byte === QUOTE;
        this.depth += byte === OPEN || byte === OPEN_ARRAY ? 1
            : byte === CLOSE || byte === CLOSE_ARRAY ? -1 : 0;
        return this.inString;
    }
}

/* Returns the texts of the values of an array; null: the text is no array. */
function valuesOf(text) {
    if (!/^\s*\[[^]*\]\s*$/.test(text)) {
        return null;
    }
    const nesting = new Nesting();
    const inner = text.trim().slice(1, -1);
    const values = [];
    let from = 0;
    for (let i = 0; i < inner.length; i++) {
        if (!nesting.take(inner.charCodeAt(i)) && nesting.depth === 0 && inner[i] === ',') {
            values.push(inner.slice(from, i));
            from = i + 1;
        }
    }
    return values.length === 0 && inner.trim() === '' ? [] : [...values, inner.slice(from)];
}

/* A transformer for a TransformStream of Uint8Arrays. */
export class JsonLines {
    constructor() {
        this.nesting = new Nesting();
        this.line = 1; /* of the file */
        this.head = []; /* bytes before the rows */
        this.state = 'head'; /* 'head', 'rows' or 'end' */
        this.columns = null; /* names; null: the rows have their own */
        this.depth = 0; /* of a row */
        this.rows = 0;
        this.out = new Uint8Array(1 << 16);
        this.length = 0;
        this.from = 0; /* where the open row begins in out */
        this.blank = true; /* the open row has no byte yet */
    }

    transform(chunk, controller) {
        for (const byte of chunk) {
            this.line += byte === NEWLINE ? 1 : 0;
            const inString = this.nesting.take(byte);
            if (this.state === 'rows') {
                this.takeRow(byte, inString);
            } else {
                this.takeOther(byte, inString);
            }
        }
        if (this.from > 0) {
            controller.enqueue(this.out.slice(0, this.from));
            this.out.copyWithin(0, this.from, this.length);
            this.length -= this.from;
            this.from = 0;
        }
        if (this.length > LONGEST_ROW) {
            throw this.fault('the row does not end within 64 MiB: a quote or bracket may be open');
        }
    }

    flush() {
        if (this.state !== 'end' || this.nesting.depth > 0) {
            throw this.fault(this.state === 'head' ? FORMS : 'the file ends within its rows');
        }
    }

    fault(what) {
        return new Error(`line ${this.line}: ${what}`);
    }

    /* Makes room for n bytes. */
    grow(n) {
        let size = this.out.length;
        while (this.length + n > size) {
            size *= 2;
        }
        const larger = new Uint8Array(size);
        larger.set(this.out.subarray(0, this.length));
        this.out = larger;
    }

    put(byte) {
        if (this.length === this.out.length) {
            this.grow(1);
        }
        this.out[this.length++] = byte;
    }

    putAll(bytes) {
        if (this.length + bytes.length > this.out.length) {
            this.grow(bytes.length);
        }
        this.out.set(bytes, this.length);
        this.length += bytes.length;
    }

    /* A byte before or behind the rows. */
    takeOther(byte, inString) {
        const { depth } = this.nesting;
        if (this.state === 'end') {
            if (!BLANKS.has(byte) && !(byte === CLOSE && this.head.length > 0 && depth === 0)) {
                throw this.fault('there is something behind the rows');
            }
        } else if (!inString && byte === OPEN_ARRAY && depth <= 2 && this.begins()) {
            this.state = 'rows';
            this.depth = depth;
        } else if (this.head.length > 0 || !(BLANKS.has(byte) || MARK.has(byte))) {
            this.head.push(byte);
            if (this.head[0] !== OPEN || depth === 0 || this.head.length > LONGEST_HEAD) {
                throw this.fault(FORMS);
            }
        }
    }

    /* Whether an array that opens here is that of the rows. */
    begins() {
        const text = new TextDecoder().decode(new Uint8Array(this.head));
        if (text !== '' && !/"(instances|rows)"\s*:\s*$/.test(text)) {
            return false;
        }
        let names = 'instances';
        try {
            const head = text === '' ? {} : JSON.parse(`${text}[]}`);
            names = Object.keys(head).join() || names;
            this.columns = head.columns?.map((column) => String(column?.name ?? column)) || null;
        } catch {
            throw this.fault(FORMS);
        }
        if (names !== 'instances' && names !== 'columns,rows') {
            throw this.fault(names === 'rows' ? '"columns" must come before "rows"' : FORMS);
        }
        return true;
    }

    takeRow(byte, inString) {
        const ends = !inString && (this.nesting.depth < this.depth ||
            (this.nesting.depth === this.depth && byte === COMMA));
        if (!ends) {
            if (inString || !BLANKS.has(byte)) {
                this.blank = false;
                this.put(byte);
            } else if (!this.blank) {
                this.put(SPACE);
            }
            return;
        }
        const closes = byte !== COMMA;
        if (closes && byte !== CLOSE_ARRAY) {
            throw this.fault('the array of rows ends with "}"');
        }
        if (this.blank && !(closes && this.rows === 0)) {
            throw this.fault('a row is missing at this comma or bracket');
        }
        if (!this.blank) {
            this.end();
        }
        this.state = closes ? 'end' : 'rows';
    }

    /* Ends a row. */
    end() {
        this.rows++;
        if (this.columns) {
            const text = new TextDecoder().decode(this.out.subarray(this.from, this.length));
            const values = valuesOf(text);
            if (values?.length !== this.columns.length) {
                throw this.fault(values ? `the row has ${values.length} values, and "columns" ` +
                    `has ${this.columns.length} names` : 'a row of "rows" must be an array');
            }
            this.length = this.from;
            const members = values.map((value, i) =>
                `${JSON.stringify(this.columns[i])}:${value}`);
            this.putAll(new TextEncoder().encode(`{${members.join(',')}}`));
        }
        this.put(NEWLINE);
        this.from = this.length;
        this.blank = true;
    }
}
