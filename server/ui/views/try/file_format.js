/* What a file of rows is: its format, and for separated text its header. */
import { firstRow } from './pieces.js';

const START = 1024 * 1024; /* bytes that are looked at */
const DELIMITERS = [',', ';', '\t', '|'];

const TYPES = {
    csv: { type: 'text/csv', quotes: true },
    tsv: { type: 'text/tab-separated-values', quotes: false }, /* a cell ends on its line */
    ndjson: { type: 'application/x-ndjson', quotes: false },
    json: { type: 'application/json', quotes: true },
    svmlight: { type: 'text/x-svmlight', quotes: false },
    arff: { type: 'text/x-arff', quotes: false },
};

/* Returns the cells of a row of separated text. */
export function cellsOf(text, delimiter) {
    const cells = [];
    const quotes = / *"((?:[^"]|"")*)"/y;
    for (let at = 0; at <= text.length;) {
        quotes.lastIndex = at;
        const quoted = quotes.exec(text);
        const next = text.indexOf(delimiter, quoted ? quotes.lastIndex : at);
        const end = next < 0 ? text.length : next;
        cells.push(quoted ? quoted[1].replace(/""/g, '"') : text.slice(at, end).trim());
        at = end + 1;
    }
    return cells;
}

function nameKind(name) {
    const plain = name.toLowerCase().replace(/\.gz$/, '');
    const ending = /\.([a-z]+)$/.exec(plain)?.[1];
    return {
        csv: 'csv', txt: null, tsv: 'tsv', tab: 'tsv', ndjson: 'ndjson', jsonl: 'ndjson',
        json: 'json', arff: 'arff', svm: 'svmlight', svmlight: 'svmlight', libsvm: 'svmlight',
    }[ending] || null;
}

/* Whether JSON text is NDJSON: its first line is a document of its own, and not a whole body. */
function isLines(text) {
    try {
        const value = JSON.parse(text.split('\n')[0]);
        return !(value.instances || value.columns || value.dataset);
    } catch {
        return false;
    }
}

function textKind(text, name) {
    if (/^[[{]/.test(text)) {
        return isLines(text) ? 'ndjson' : 'json';
    }
    if (/^(%[^\n]*\n\s*)*@relation/i.test(text)) {
        return 'arff';
    }
    if (/^\S+(\s+\d+:\S+)+\s*$/.test(text.split('\n')[0])) {
        return 'svmlight';
    }
    return name || 'csv';
}

/* The delimiter with which most cells of the first row name columns, else the most frequent one. */
function delimiterOf(text, columns) {
    const score = (delimiter) => {
        const cells = cellsOf(text, delimiter);
        return cells.filter((cell) => columns.has(cell)).length * 10000 + cells.length;
    };
    return [...DELIMITERS].sort((a, b) => score(b) - score(a))[0];
}

/* As the daemon decides with header=auto: all cells name columns, or some do and none is a number.
 * So is a row without a number, if the model reads numbers: then the answer names the columns that
 * are absent. */
function isHeader(cells, columns, model) {
    const numbers = cells.some((cell) => cell !== '' && Number.isFinite(Number(cell)));
    return cells.every((cell) => columns.has(cell)) ||
        (!numbers && (cells.some((cell) => columns.has(cell)) ||
            model.inputs?.some(({ type }) => type === 'numeric') === true));
}

/* Returns {kind, type, quotes, names, prefix, query}: names of the columns (separated text with a
 * header, else []); prefix: the bytes that each further piece begins with; query: parameters of the
 * calls. bytes: the begin of the file. */
export function formatOf(bytes, fileName, model) {
    const text = new TextDecoder().decode(bytes.subarray(0, START)).replace(/^\ufeff/, '')
        .trimStart();
    const kind = textKind(text, nameKind(fileName));
    const format = { kind, ...TYPES[kind], names: [], prefix: new Uint8Array(0), query: {} };
    if (kind === 'arff') {
        const data = /^\s*@data[^\n]*\n/im.exec(text);
        format.prefix = new TextEncoder().encode(data ? text.slice(0, data.index) + data[0] : '');
    }
    if (kind !== 'csv' && kind !== 'tsv') {
        return format;
    }
    const columns = new Set([...(model.inputs || []).map((input) => input.column || input.name),
        ...(model.reading?.columns || [])]);
    const row = firstRow(bytes, true, model.reading?.comment);
    const delimiter = kind === 'tsv' ? '\t' : delimiterOf(row?.text || '', columns);
    const cells = cellsOf(row?.text || '', delimiter);
    const header = isHeader(cells, columns, model);
    format.query = { header: String(header), delimiter };
    if (delimiter === '\t') {
        Object.assign(format, TYPES.tsv);
        format.query = { header: String(header) };
    }
    if (header) {
        format.names = cells;
        format.prefix = bytes.slice(row.from, row.to);
    }
    return format;
}
