/* The confusion matrix: how many rows of each class got which label. */
import { Component, h } from '../../base/preact.js';
import { count, number, percent } from '../../base/format.js';
import { csv, saveText } from '../../base/save.js';
import { DataTable } from '../../parts/table.js';

const MOST_CLASSES = 30; /* a matrix of more classes is listed by its worst pairs */
const MOST_PAIRS = 200;
const STRONGEST = 38; /* percent of colour of the darkest cell: the text stays readable */

/* The pairs of different classes, most frequent first: {truth, label, n, share}. share: of the rows
 * of the true class. */
function worstPairs({ classes, matrix }) {
    const pairs = [];
    matrix.forEach((row, i) => {
        const sum = row.reduce((a, b) => a + b, 0);
        row.forEach((n, j) => {
            if (i !== j && n > 0) {
                pairs.push({ truth: classes[i], label: classes[j], n, share: n / sum });
            }
        });
    });
    return pairs.sort((a, b) => b.n - a.n || b.share - a.share);
}

function Pairs({ confusion }) {
    const pairs = worstPairs(confusion);
    if (pairs.length === 0) {
        return h('p', {}, 'No row got a wrong label.');
    }
    return h('div', { class: 'stack' }, [
        h('p', { class: 'minor' }, `A matrix of ${count(confusion.classes.length)} classes has ` +
            'too many cells to read: these are the pairs that are confused most. ' +
            `${count(pairs.length)} pairs of classes are confused in all.`),
        h(DataTable, {
            caption: 'Pairs of classes that are confused', rows: pairs.slice(0, MOST_PAIRS),
            columns: [
                { name: 'truth', label: 'True class', cell: (p) => String(p.truth) },
                { name: 'label', label: 'Got the label', cell: (p) => String(p.label) },
                { name: 'n', label: 'Rows', numeric: true, cell: (p) => number(p.n) },
                { name: 'share', label: 'Share of the true class', numeric: true,
                    cell: (p) => percent(p.share) },
            ],
        }),
    ]);
}

/* The colour of a cell: share of the rows of the true class. */
function shade(share, right) {
    const strength = Math.round(STRONGEST * Math.sqrt(share));
    return strength === 0 ? {}
        : { background: `color-mix(in srgb, var(${right ? '--good' : '--bad'}) ${strength}%, ` +
            'var(--surface))' };
}

function Matrix({ confusion: { classes, matrix }, rates, before }) {
    const name = (x) => h('span', { class: 'short', title: String(x) }, String(x));
    return h('div', {
        class: 'table-scroll', tabindex: '0', role: 'group', 'aria-label': 'Confusion matrix',
    }, h('table', { class: 'data confusion' }, [
        h('caption', { class: 'hidden' }, 'Confusion matrix'),
        h('thead', {}, h('tr', {}, [
            h('th', { scope: 'col' }, 'True class'),
            ...classes.map((c) => h('th', { scope: 'col', class: 'numeric' }, name(c))),
            h('th', { scope: 'col', class: 'numeric' }, 'Rows'),
        ])),
        h('tbody', {}, matrix.map((row, i) => {
            const sum = row.reduce((a, b) => a + b, 0);
            return h('tr', {}, [
                h('th', { scope: 'row' }, name(classes[i])),
                ...row.map((n, j) => h('td', {
                    class: 'numeric', style: shade(sum > 0 ? n / sum : 0, i === j),
                }, [
                    rates ? (sum > 0 ? percent(n / sum) : '–') : number(n),
                    before && !rates && n !== before[i][j] ? h('span', { class: 'change' },
                        ` ${n > before[i][j] ? '+' : '−'}${number(Math.abs(n - before[i][j]))}`)
                        : null,
                ])),
                h('td', { class: 'numeric' }, number(sum)),
            ]);
        })),
    ]));
}

/*   confusion  {classes, matrix}; name: of the saved file
 *   ambiguous  rows that got no class
 *   before     another matrix: changes against it are shown; undefined: none
 */
export class Confusion extends Component {
    constructor(props) {
        super(props);
        this.state = { rates: false };
    }

    save() {
        const { confusion: { classes, matrix }, name } = this.props;
        saveText(csv(['true class', ...classes], matrix.map((row, i) => [classes[i], ...row])),
            `${name}-confusion.csv`, 'text/csv');
    }

    render({ confusion, ambiguous, before }, { rates }) {
        const large = confusion.classes.length > MOST_CLASSES;
        const button = (value, text) => h('button', {
            type: 'button', class: 'quiet', 'aria-pressed': rates === value ? 'true' : 'false',
            onClick: () => this.setState({ rates: value }),
        }, text);
        return h('div', { class: 'stack' }, [
            h('div', { class: 'buttons' }, [
                large ? null : button(false, 'Numbers of rows'),
                large ? null : button(true, 'Share of the true class'),
                h('button', {
                    type: 'button', class: 'quiet',
                    'aria-label': 'Save the confusion matrix as CSV', onClick: () => this.save(),
                }, 'CSV'),
            ]),
            large ? null : h('p', { class: 'minor' },
                'Rows: the true class. Columns: the label that the model gives.'),
            large ? h(Pairs, { confusion }) : h(Matrix, { confusion, rates, before }),
            ambiguous > 0 ? h('p', { class: 'minor' }, `${number(ambiguous)} more rows got no ` +
                'label, because the model found no class or several for them. They count as ' +
                'errors.') : null,
        ]);
    }
}
