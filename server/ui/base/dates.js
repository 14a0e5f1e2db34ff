/* Dates of datetime columns as numbers: text in the form of a column ("DD.MM.YYYY hh:mm", as the
 * API names it) and seconds since 1970-01-01, without a date since midnight. The offset of a column
 * whose cells all have the same one is not applied: the numbers are those of its local time. */

const DIGITS = {
    YYYY: '\\d{4}', MM: '\\d\\d', M: '\\d\\d?', DD: '\\d\\d', D: '\\d\\d?', hh: '\\d\\d',
    h: '\\d\\d?', mm: '\\d\\d', ss: '\\d\\d', '+hh:mm': '[+-]\\d\\d:\\d\\d|Z',
};
const TOKENS = /\+hh:mm|YYYY|MM|M|DD|D|hh|h|mm|ss|f+/g;
const LETTER = { YYYY: 'Y', MM: 'M', M: 'M', DD: 'D', D: 'D', hh: 'h', h: 'h', mm: 'm', ss: 's' };

const cuts = new Map();

/* The tokens of a form and its pattern. */
function cut(form) {
    if (!cuts.has(form)) {
        const tokens = form.match(TOKENS) || [];
        const pattern = form.split(TOKENS)
            .map((text) => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'))
            .reduce((all, text, i) => `${all}(${DIGITS[tokens[i - 1]] || '\\d+'})${text}`);
        cuts.set(form, { tokens, pattern: new RegExp(`^${pattern}$`) });
    }
    return cuts.get(form);
}

function offset(text) {
    const [sign, hours, minutes] = [text[0], Number(text.slice(1, 3)), Number(text.slice(4, 6))];
    return text === 'Z' ? 0 : (sign === '-' ? -60 : 60) * (60 * hours + minutes);
}

/* Returns the seconds of a text; NaN: it does not have the form. */
export function parseDate(text, form) {
    const { tokens, pattern } = cut(form);
    const found = pattern.exec(String(text).trim());
    if (!found) {
        return NaN;
    }
    const parts = { Y: 1970, M: 1, D: 1, h: 0, m: 0, s: 0 };
    let rest = 0;
    tokens.forEach((token, i) => {
        const value = found[i + 1];
        if (token[0] === 'f') {
            rest += Number(`0.${value}`);
        } else if (token[0] === '+') {
            rest -= offset(value);
        } else {
            parts[LETTER[token]] = Number(value);
        }
    });
    const { Y, M, D, h, m, s } = parts;
    const date = new Date(0);
    date.setUTCFullYear(Y, M - 1, D); /* years below 100 are what they are */
    return date.getTime() / 1000 + 3600 * h + 60 * m + s + rest;
}

/* Returns seconds as text in a form. */
export function writeDate(seconds, form) {
    const date = new Date(Math.round(seconds * 1000));
    const parts = {
        Y: date.getUTCFullYear(), M: date.getUTCMonth() + 1, D: date.getUTCDate(),
        h: date.getUTCHours(), m: date.getUTCMinutes(), s: date.getUTCSeconds(),
    };
    return form.replace(TOKENS, (token) => {
        if (token[0] === 'f') {
            return String(date.getUTCMilliseconds()).padStart(3, '0').slice(0, token.length)
                .padEnd(token.length, '0');
        }
        return token[0] === '+' ? '+00:00'
            : String(parts[LETTER[token]]).padStart(token.length, '0');
    });
}
