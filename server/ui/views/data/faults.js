/* Lines of a file with what is wrong in them, marked in place. */
import { h } from '../../base/preact.js';
import { advice } from '../../base/advice.js';
import { count } from '../../base/format.js';

const WIDTH = 160; /* characters of a line that are shown */
const encoder = new TextEncoder();

/* The index of the character at a column, which counts bytes of UTF-8 from 1. */
function characterAt(text, column) {
    let bytes = 1;
    let i = 0;
    for (const character of text) {
        if (bytes >= column) {
            break;
        }
        bytes += encoder.encode(character).length;
        i += character.length;
    }
    return i;
}

/* The cell of the text at an index, to be marked: up to the next delimiter. */
function markedEnd(text, at) {
    const rest = text.slice(at);
    const quoted = /^"(?:[^"]|"")*"/.exec(rest);
    const end = quoted ? quoted[0].length : rest.search(/[,;\t|]/);
    return end < 0 ? text.length : Math.max(at + end, at + 1);
}

/* The text of a line, cut around the marked place. */
function marked(text, column) {
    if (column === undefined) {
        return [text.length > WIDTH ? `${text.slice(0, WIDTH)} …` : text];
    }
    const at = characterAt(text, column);
    const end = Math.min(markedEnd(text, at), at + WIDTH);
    const from = end > WIDTH ? Math.max(0, at - WIDTH / 2) : 0;
    const to = Math.max(from + WIDTH, end);
    return [
        from > 0 ? '… ' : '', text.slice(from, at),
        h('mark', {}, at < text.length ? text.slice(at, end)
            : [h('span', { class: 'hidden' }, 'the end of the line'), '\u00a0']),
        text.slice(end, to), to < text.length ? ' …' : '',
    ];
}

/* faults: [{line, column, detail}]; lines: map from number to text, which may lack some. */
export function FaultLines({ faults, lines }) {
    const byLine = new Map(faults.map((fault) => [fault.line, fault]));
    const shown = new Set();
    for (const { line } of faults) {
        [line - 1, line, line + 1].filter((n) => n === line || lines.has(n))
            .forEach((n) => shown.add(n));
    }
    const numbers = [...shown].sort((a, b) => a - b);
    return h('ol', { class: 'fault-lines' }, numbers.flatMap((number, i) => {
        const fault = byLine.get(number);
        const text = lines.get(number);
        return [
            i > 0 && numbers[i - 1] < number - 1
                ? h('li', { class: 'gap', 'aria-hidden': 'true' }, '⋮') : null,
            h('li', { class: fault ? 'faulty' : null }, [
                h('span', { class: 'line-number' }, [
                    h('span', { class: 'hidden' }, 'line '), count(number),
                ]),
                h('span', { class: 'line' }, [
                    h('code', {}, text === undefined ? '…' : marked(text, fault?.column)),
                    fault ? h('span', { class: 'error' }, advice(fault.detail)) : null,
                ]),
            ]),
        ];
    }));
}
