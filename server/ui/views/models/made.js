/* What a model is made of, from the columns of a row to its label, as a tree. */
import { h } from '../../base/preact.js';
import { count, number, percent, plural } from '../../base/format.js';
import { methodTitle } from './methods.js';
import { ruleText } from './rule_text.js';

const MOST_COLUMNS = 60;

const DECISIONS = {
    one_vs_rest: 'one score for each class against the rest; the greatest wins',
    one_vs_rest_strict: 'one score for each class against the rest; a row that none or several ' +
        'claim has no label',
    one_vs_one: 'one score for each pair of classes, which vote',
    one_vs_one_strict: 'one score for each pair of classes; a row without a winner has no label',
    outlier: 'a row with a score below the limit is an outlier',
};

function list(items) {
    return h('ul', {}, items.filter((item) => item !== null).map((item) => h('li', {},
        Array.isArray(item) ? item : [item])));
}

function Columns({ inputs }) {
    const kinds = new Map();
    inputs.forEach(({ type, part }) => {
        const kind = part ? 'part of a date' : type;
        kinds.set(kind, (kinds.get(kind) || 0) + 1);
    });
    return h('details', {}, [
        h('summary', {}, `${plural(inputs.length, 'column')}: ${[...kinds].map(([kind, n]) =>
            `${count(n)} ${kind}`).join(', ')}`),
        list([...inputs.slice(0, MOST_COLUMNS).map((input) => `${input.name} (${input.type}${
            input.levels ? `, ${plural(input.levels.length, 'category', 'categories')}` : ''})`),
        inputs.length > MOST_COLUMNS ? `and ${count(inputs.length - MOST_COLUMNS)} more` : null]),
    ]);
}

function features({ n_features: n, standardize, encoding }) {
    const basis = encoding?.basis?.length
        ? `, with ${encoding.basis.map((b) => b.type).join(' and ')} terms` : '';
    return `${plural(n, 'feature')}, the numbers that the method computes with${basis}${
        standardize ? '; the training brought them to the same scale' : ''}`;
}

function Member({ member }) {
    const params = Object.entries(member.params || {});
    return h('details', {}, [
        h('summary', {}, `${methodTitle(member.algorithm)}: share ${number(member.share, 3)}`),
        list(params.map(([name, value]) => `${name}: ${JSON.stringify(value)}`)),
    ]);
}

/* The methods of a combination, with their shares. */
function Members({ members }) {
    const sum = members.reduce((all, m) => all + m.share, 0);
    return h('div', {}, [
        'The probabilities of these models are multiplied, each raised to its share, and scaled ' +
            'to the sum 1:',
        h('ul', { class: 'members' }, members.map((member) => h('li', {}, [
            h(Member, { member }),
            h('meter', { min: 0, max: sum || 1, value: member.share,
                'aria-label': `Share of ${methodTitle(member.algorithm)}` },
            percent(sum > 0 ? member.share / sum : 0)),
        ]))),
    ]);
}

export function Made({ model }) {
    const { members, params, n_machines: machines, decision } = model;
    return h('section', { class: 'card', 'aria-label': 'What it is made of' }, [
        h('h2', {}, 'What it is made of'),
        h('ol', { class: 'steps' }, [
            h('li', {}, h(Columns, { inputs: model.inputs })),
            h('li', {}, features(model)),
            h('li', {}, members ? [methodTitle(model.algorithm), h(Members, { members })]
                : [methodTitle(model.algorithm), params?.kernel
                    ? `, kernel ${params.kernel.type || params.kernel}` : '',
                machines > 1 ? `, ${plural(machines, 'machine')}` : '',
                DECISIONS[decision] ? `: ${DECISIONS[decision]}` : '']),
            params?.calibrate && params.calibrate !== 'none' ? h('li', {},
                `Calibration (${params.calibrate}): makes probabilities of the scores`) : null,
            model.conformal ? h('li', {}, `Sets of labels that have the true one in ${
                percent(model.conformal.coverage, 0)} of the rows`) : null,
            h('li', {}, model.target === null ? 'Outlier or not'
                : `A label: one of ${plural(model.classes.length, 'class', 'classes')} of “${
                    model.target}”. ${model.decision_rule ? ruleText(model.decision_rule)
                    : members || decision === 'native' ? 'The most probable one.' : ''}`),
        ].filter((item) => item !== null)),
    ]);
}
