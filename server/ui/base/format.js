/* Numbers, sizes and times as text. */
const BLANK = '\u00a0'; /* between a number and its unit: no line ends there */
const whole = new Intl.NumberFormat('en');
const date = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'short' });

/* An integer with separators: 1,234,567. */
export function count(n) {
    return n === null || n === undefined ? '–' : whole.format(n);
}

/* "1 row", "1,200 rows". */
export function plural(n, noun, nouns = `${noun}s`) {
    return `${count(n)} ${n === 1 ? noun : nouns}`;
}

/* A text of at most `most` characters: the end is left out. */
export function shortened(text, most = 40) {
    const characters = [...String(text)];
    return characters.length > most ? `${characters.slice(0, most - 1).join('')}…` : String(text);
}

/* A number with some significant digits, at most 6. All digits before the point are right. */
export function number(x, digits = 4) {
    if (x === null || x === undefined || Number.isNaN(x)) {
        return '–';
    }
    if (typeof x !== 'number') {
        return String(x);
    }
    if (!Number.isFinite(x)) {
        return x > 0 ? '∞' : '−∞';
    }
    const size = Math.abs(x);
    if (x !== 0 && (size >= 1e7 || size < 1e-4)) {
        return x.toExponential(digits - 1).replace('-', '−').replace('e+', 'e');
    }
    if (Number.isInteger(x) || size >= 10 ** digits) {
        return whole.format(Math.round(x)).replace('-', '−');
    }
    return String(Number(x.toPrecision(digits))).replace('-', '−');
}

/* A share as percent: 0.1234 is "12.3 %". */
export function percent(x, digits = 1) {
    return x === null || x === undefined ? '–' : `${(100 * x).toFixed(digits)}${BLANK}%`
        .replace('-', '−');
}

export function bytes(n) {
    if (n === null || n === undefined) {
        return '–';
    }
    const units = ['bytes', 'KB', 'MB', 'GB', 'TB'];
    let unit = 0;
    let x = n;
    for (; x >= 1000 && unit < units.length - 1; unit++) {
        x /= 1000;
    }
    return `${unit === 0 || x >= 100 ? Math.round(x) : x.toFixed(1)}${BLANK}${units[unit]}`;
}

export function seconds(s) {
    if (s === null || s === undefined) {
        return '–';
    }
    if (s < 1) {
        return s < 0.001 ? `${number(s * 1e6, 2)}${BLANK}µs` : `${number(s * 1e3, 3)}${BLANK}ms`;
    }
    if (s < 60) {
        return `${number(s, 3)}${BLANK}s`;
    }
    const isMinutes = Math.round(s) < 3600;
    const small = isMinutes ? Math.round(s) : Math.round(s / 60);
    const [big, unit] = isMinutes ? ['min', 's'] : ['h', 'min'];
    return `${Math.floor(small / 60)} ${big}${small % 60 ? ` ${small % 60} ${unit}` : ''}`;
}

/* A time of the API (RFC 3339) in the time zone of the browser. */
export function time(text) {
    return text ? date.format(new Date(text)) : '–';
}

/* Returns a text in the characters that names may have: "é" becomes "e", others a "-". */
export function plainName(text) {
    return text.normalize('NFKD').replace(/[\u0300-\u036f]/g, '').replace(/[^A-Za-z0-9._-]+/g, '-');
}
