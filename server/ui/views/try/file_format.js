/* What a file of rows is: its format, and for separated text its header. */
import { firstRow, rowsOf } from './pieces.js';

const LONGEST_DATA = 1000; /* bytes of a line with @data */
const DELIMITERS = [',', ';', '\t', '|'];

/* type: of the pieces; whole: of the file if it is another one. */
const TYPES = {
    csv: { type: 'text/csv', dialect: { quotes: true } },
    tsv: { /* a cell ends on its line */
        type: 'text/tab-separated-values', dialect: { quotes: false, delimiter: '\t' },
    },
    ndjson: { type: 'application/x-ndjson', dialect: { quotes: false } },
    json: {
        type: 'application/x-ndjson', whole: 'application/json', dialect: { quotes: false },
    },
    svmlight: {
        type: 'text/x-svmlight', dialect: { quotes: false, comment: '#', indented: true },
    },
    arff: { type: 'text/x-arff', dialect: { quotes: false, comment: '%', indented: true } },
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

/* Whether JSON text is NDJSON: its first line is a row, and not a whole body. */
function isLines(text) {
    try {
        const value = JSON.parse(text.split('\n')[0]);
        return !(value.instances || value.columns || value.dataset) &&
            !(Array.isArray(value) && value.some((item) => typeof item === 'object' && item));
    } catch {
        return false;
    }
}

function textOf(bytes) {
    return new TextDecoder().decode(bytes).replace(/^\ufeff/, '').trimStart();
}

const DATA = /^[ \t]*@data[ \t\r]*(%.*)?$/im; /* the line that ends the header of ARFF */

/* The number of bytes up to the end of the header of ARFF; 0: there is none. */
function dataEnd(bytes) {
    const decoder = new TextDecoder();
    const row = rowsOf(bytes, TYPES.arff.dialect).find(({ from, to }) => to - from < LONGEST_DATA &&
        DATA.test(decoder.decode(bytes.subarray(from, to)).trimEnd()));
    return row ? row.to : 0;
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

/* The first row as a delimiter divides it: {row, cells, delimiter}. The delimiter is that with
 * which most cells name columns; without a name that of the training table, if the row then has as
 * many cells as the model needs; else that with most cells. */
function firstCells(bytes, columns, model) {
    const { delimiter: usual, comment, columns: all = [] } = model.reading || {};
    const inputs = new Set(model.inputs?.map((input) => input.column || input.name));
    const needed = [all.length, inputs.size];
    const found = DELIMITERS.map((delimiter) => {
        const row = firstRow(bytes, { quotes: true, delimiter, comment });
        return { row, delimiter, cells: cellsOf(row?.text || '', delimiter) };
    });
    const score = ({ cells, delimiter }) => cells.length +
        1e5 * cells.filter((cell) => columns.has(cell)).length +
        (delimiter === usual && needed.includes(cells.length) ? 1e4 : 0);
    return found.sort((a, b) => score(b) - score(a))[0];
}

/* As the daemon decides with header=auto: all cells name columns, or some do and none is a number.
 * So is a row without a number, if the model reads numbers: then the answer names the columns that
 * are absent. */
function isHeader(cells, columns, model) {
    const isNumber = (cell) => cell !== '' && Number.isFinite(Number(cell.replace(',', '.')));
    const numbers = cells.some(isNumber);
    return cells.every((cell) => columns.has(cell)) ||
        (!numbers && (cells.some((cell) => columns.has(cell)) ||
            model.inputs?.some(({ type }) => type === 'numeric') === true));
}

/* Returns the kind of a file, a name of TYPES, by the bytes of its begin. */
export const kindOf = (bytes, fileName) => textKind(textOf(bytes), nameKind(fileName));

/* Whether whole lines of an ARFF file have the end of the header, which formatOf needs. */
export const hasData = (bytes) => DATA.test(textOf(bytes));

/* Returns the format of a file:
 *
 *   kind, type, whole  of TYPES
 *   dialect            of RowScanner, with `cells`: the number of columns, 0 if it is not known
 *   names              of the columns: separated text with a header, else []
 *   prefix             the header, with which each piece begins
 *   skip               bytes of the file up to the end of the header
 *   query              parameters of the calls
 *
 * bytes: the begin of the file. */
export function formatOf(bytes, fileName, model) {
    const kind = kindOf(bytes, fileName);
    const { type, whole = type, dialect } = TYPES[kind];
    const format = {
        kind, type, whole, dialect: { ...dialect, cells: 0 }, names: [],
        prefix: new Uint8Array(0), skip: 0, query: {},
    };
    if (kind === 'arff') {
        format.skip = dataEnd(bytes);
        format.prefix = bytes.slice(0, format.skip);
    }
    if (kind !== 'csv' && kind !== 'tsv') {
        return format;
    }
    const { reading } = model;
    const columns = new Set([...(model.inputs || []).map((input) => input.column || input.name),
        ...(reading?.columns || [])]);
    const first = kind === 'tsv' ? null : firstCells(bytes, columns, model);
    const tabs = kind === 'tsv' || first.delimiter === '\t';
    format.dialect = tabs ? { ...TYPES.tsv.dialect, comment: reading?.comment }
        : { quotes: true, delimiter: first.delimiter, comment: reading?.comment };
    const row = tabs ? firstRow(bytes, format.dialect) : first.row;
    const cells = cellsOf(row?.text || '', format.dialect.delimiter);
    const header = isHeader(cells, columns, model);
    format.query = { header: String(header) };
    if (tabs) {
        format.type = TYPES.tsv.type;
        format.whole = format.type;
    } else {
        format.query.delimiter = first.delimiter;
    }
    format.dialect.cells = row?.cells || 0;
    if (header) {
        format.names = cells;
        format.prefix = bytes.slice(row.from, row.to);
        format.skip = row.to;
    }
    return format;
}
