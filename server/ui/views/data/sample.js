/* The file or text that is to become a table: its first part, cut where a row ends, and its lines
 * by number. Files are read slice by slice and never as a whole. */
import { RowScanner } from '../../base/row_scanner.js';

const PART = 1 << 20; /* bytes of the first part */
const LARGEST_PART = 1 << 25; /* if no row ends in it */
const LONGEST_LINE = 1 << 16; /* characters kept of a line */
const NEWLINE = 10;

function byteOrder(head) {
    if (head[0] === 0xff && head[1] === 0xfe) {
        return 'utf-16le';
    }
    return head[0] === 0xfe && head[1] === 0xff ? 'utf-16be' : '';
}

/* Files of other programs, by their first characters. */
const FOREIGN = {
    'PK\u0003\u0004': 'an Excel workbook or a zip archive',
    '\u00d0\u00cf\u0011\u00e0': 'an old Excel workbook',
    '%PDF': 'a PDF document',
    PAR1: 'a Parquet file',
};

/* Returns the source of a Blob. text: of a pasted table; undefined: a file. `foreign`: what it is
 * if it is no table; '': it may be one. */
export async function sourceOf(blob, name, text) {
    const head = new Uint8Array(await blob.slice(0, 4).arrayBuffer());
    const gzip = head[0] === 0x1f && head[1] === 0x8b;
    const foreign = FOREIGN[String.fromCharCode(...head)] || '';
    return { blob, name, text, gzip, foreign, size: blob.size, mark: byteOrder(head) };
}

export function textSource(text, name) {
    return sourceOf(new Blob([text]), name, text);
}

function stream(source) {
    const bytes = source.blob.stream();
    return source.gzip ? bytes.pipeThrough(new DecompressionStream('gzip')) : bytes;
}

async function firstBytes(source, size) {
    if (!source.gzip) {
        return new Uint8Array(await source.blob.slice(0, size).arrayBuffer());
    }
    const reader = stream(source).getReader();
    const parts = [];
    let length = 0;
    while (length < size) {
        const { done, value } = await reader.read();
        if (done) {
            break;
        }
        parts.push(value);
        length += value.length;
    }
    void reader.cancel().catch(() => {});
    return new Uint8Array(await new Blob(parts).slice(0, size).arrayBuffer());
}

/* The end of the last complete row. With fewer than two rows, which may be a header alone, the end
 * of a line behind them; 0: there is none. */
function lineEnd(bytes, dialect) {
    const scanner = new RowScanner(dialect);
    let last = 0;
    let end = 0;
    let rows = 0;
    for (let i = 0; i < bytes.length; i++) {
        if (scanner.ends(bytes[i])) {
            end = i + 1;
            rows++;
        }
        last = bytes[i] === NEWLINE ? i + 1 : last;
    }
    return rows > 1 ? end : last > end ? last : 0;
}

function lineEnd16(bytes, mark) {
    const low = mark === 'utf-16be' ? 1 : 0;
    for (let i = (bytes.length & ~1) - 2; i >= 0; i -= 2) {
        if (bytes[i + low] === NEWLINE && bytes[i + 1 - low] === 0) {
            return i + 2;
        }
    }
    return 0;
}

const OPEN = { '[': ']', '{': '}' };

/* Cuts JSON after its last complete row: returns {end, tail} with the brackets that close it. Rows
 * are the items of the array, or of an array within the object. */
function jsonEnd(bytes) {
    const text = String.fromCharCode;
    const stack = [];
    let inString = false;
    let result = { end: 0, tail: '' };
    for (let i = 0; i < bytes.length; i++) {
        const c = text(bytes[i]);
        if (inString) {
            if (c === '\\') {
                i++;
            } else if (c === '"') {
                inString = false;
            }
        } else if (c === '"') {
            inString = true;
        } else if (OPEN[c]) {
            stack.push(OPEN[c]);
        } else if (c === ']' || c === '}') {
            stack.pop();
            const depth = stack[0] === ']' ? 1 : 2;
            if (stack.length === depth && stack[depth - 1] === ']') {
                result = { end: i + 1, tail: [...stack].reverse().join('') };
            }
        }
    }
    return result;
}

/* Whether the text is one JSON document (true), or has an object in each line or is no JSON. */
function isDocument(bytes) {
    const first = new TextDecoder().decode(bytes.subarray(0, 65536)).trimStart();
    if (!first.startsWith('{')) {
        return /^\[\s*[[{]/.test(first) && !/^\[[^\n]*\]\s*\n\s*\[/.test(first);
    }
    try {
        JSON.parse(first.split('\n')[0]);
        return false;
    } catch {
        return true;
    }
}

function cut(bytes, source, encoding, dialect) {
    const mark = source.mark || (/^utf-?16(le|be)?$/i.test(encoding) ? encoding.toLowerCase() : '');
    if (mark) {
        return { end: lineEnd16(bytes, mark), tail: '' };
    }
    return isDocument(bytes) ? jsonEnd(bytes) : { end: lineEnd(bytes, dialect), tail: '' };
}

/* Returns {body, bytes, whole}: the first part as a Blob, its length, and whether it is all.
 * dialect: of RowScanner. */
export async function sampleOf(source, encoding, dialect) {
    for (let size = PART; ; size *= 4) {
        const bytes = await firstBytes(source, size);
        if (bytes.length < size || (!source.gzip && source.size <= size)) {
            return { body: new Blob([bytes]), bytes: bytes.length, whole: true };
        }
        const { end, tail } = cut(bytes, source, encoding, dialect);
        if (end > 0 || size >= LARGEST_PART) {
            const part = end > 0 ? bytes.subarray(0, end) : bytes;
            return { body: new Blob([part, tail]), bytes: part.length, whole: false };
        }
    }
}

/* Returns a map from the wanted numbers (a set) to the text of the lines. */
export async function linesOf(source, wanted, encoding, signal) {
    const found = new Map();
    const last = Math.max(...wanted);
    const decoder = new TextDecoderStream(source.mark || encoding || 'utf-8');
    const reader = stream(source).pipeThrough(decoder, { signal }).getReader();
    let separator = '';
    let rest = '';
    let line = 1;
    while (line <= last) {
        const { done, value } = await reader.read();
        const text = rest + (value || '');
        separator = separator || (text.includes('\n') || !text.includes('\r') ? '\n' : '\r');
        let from = 0;
        for (let end = text.indexOf(separator); end >= 0 || (done && from < text.length);
            end = text.indexOf(separator, from)) {
            const to = end < 0 ? text.length : end;
            if (wanted.has(line)) {
                found.set(line, text.slice(from, Math.min(to, from + LONGEST_LINE))
                    .replace(/\r$/, ''));
            }
            from = to + 1;
            line += 1;
        }
        if (done) {
            break;
        }
        rest = text.slice(from);
    }
    void reader.cancel().catch(() => {});
    return found;
}
