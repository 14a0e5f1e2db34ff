/* What the model answers for a row. */
import { Component, h } from '../../base/preact.js';
import { count, number, percent, plural } from '../../base/format.js';
import { Warnings } from '../../parts/problem.js';
import { scoreNames } from './scores.js';

const MOST_CLASSES = 10;
const QUIET = 1200; /* ms without a change after which the answer is read out */

/* Returns what a decision rule says. */
function ruleText({ rule, positive, threshold, costs, reject }) {
    const texts = [
        threshold !== undefined ? `the label is ${positive} if its probability is at least ` +
            `${number(threshold)}` : null,
        costs !== undefined ? 'the label has the least expected cost' : null,
        reject !== undefined ? `there is no label if its expected cost is above ${number(reject)}`
            : null,
    ].filter(Boolean);
    return texts.join('; ') || JSON.stringify(rule);
}

/* Why there is no label. */
function noLabel({ prediction, rule }) {
    if (prediction.ambiguous) {
        const among = (prediction.candidates || []).join(', ');
        return `The model cannot decide${among ? ` between ${among}` : ''}.`;
    }
    return rule?.reject !== undefined
        ? `Rejected: no label is sure enough (limit ${number(rule.reject)}).` : 'No label.';
}

function Bars({ classes, probabilities, label }) {
    const items = classes.map((name, i) => ({ name: String(name), p: probabilities[i] }));
    const sorted = classes.length <= MOST_CLASSES ? items
        : [...items].sort((a, b) => b.p - a.p).slice(0, MOST_CLASSES);
    return h('div', {}, [
        h('table', { class: 'bars' }, [
            h('caption', { class: 'hidden' }, 'Probability of each class'),
            h('tbody', {}, sorted.map(({ name, p }) => h('tr', {
                key: name, class: name === String(label) ? 'chosen' : null,
            }, [
                h('th', { scope: 'row' }, name),
                h('td', { class: 'numeric' }, percent(p)),
                h('td', { class: 'bar', 'aria-hidden': 'true' },
                    h('span', { style: { width: `${100 * p}%` } })),
            ]))),
        ]),
        classes.length > MOST_CLASSES ? h('p', { class: 'minor' },
            `The ${MOST_CLASSES} most probable of ${count(classes.length)} classes.`) : null,
    ]);
}

/* Scores of a model without probabilities. */
function Scores({ classes, scores, model }) {
    const names = scoreNames(model, classes, scores.length);
    if (scores.length === 1) {
        const [above] = names;
        const below = classes.find((name) => String(name) !== above);
        return h('p', {}, `Score ${number(scores[0])} (above 0: ${above}, below 0: ${below})`);
    }
    return h('p', { class: 'minor' }, `Scores: ${scores.slice(0, MOST_CLASSES).map((score, i) =>
        `${names[i]} ${number(score)}`).join(', ')}`);
}

function answerText({ answer, rule }) {
    const [prediction] = answer.predictions;
    const { label, probabilities } = prediction;
    if (label === null || label === undefined) {
        return noLabel({ prediction, rule });
    }
    const at = answer.classes.findIndex((name) => name === label);
    return probabilities && at >= 0 ? `${label}, ${percent(probabilities[at])}` : String(label);
}

/*   answer     of predict, or null
 *   model      its document
 *   truth      the class of the stored row that fills the form, or undefined
 *   busy       another answer is under way
 */
export class Answer extends Component {
    constructor(props) {
        super(props);
        this.state = { read: '' };
    }

    componentDidUpdate() {
        const { answer, model } = this.props;
        const text = answer ? answerText({ answer, rule: model.decision_rule }) : '';
        if (text !== this.text) {
            this.text = text;
            clearTimeout(this.timer);
            this.timer = setTimeout(() => this.setState({ read: text }), QUIET);
        }
    }

    componentWillUnmount() {
        clearTimeout(this.timer);
    }

    details() {
        const { answer, model, truth } = this.props;
        const rule = model.decision_rule;
        const [prediction] = answer.predictions;
        const { label, probabilities, scores, set } = prediction;
        const unlabelled = label === null || label === undefined;
        return [
            h('p', { class: 'answer-label' }, unlabelled ? noLabel({ prediction, rule })
                : String(label)),
            truth === undefined ? null : h('p', { class: 'minor' }, ['In the table this row is ',
                h('strong', {}, truth), String(truth) === String(label) ? ': right.' : ': wrong.']),
            probabilities ? h(Bars, { classes: answer.classes, probabilities, label })
                : scores ? h(Scores, {
                    classes: answer.classes, scores, model,
                }) : null,
            set ? h('p', {}, [
                'Set of labels: ', h('strong', {}, set.length > 0 ? set.join(', ') : 'empty'),
                h('span', { class: 'minor block' }, 'Such sets have the true label in ' +
                    `${percent(model.conformal.coverage, 0)} of rows like those of the training.`),
            ]) : null,
            rule ? h('p', { class: 'minor' }, `Decision rule: ${ruleText(rule)}.`) : null,
            ...(answer.unseen || []).map(({ column, value }) => h('p', { class: 'minor' },
                `No training row has “${value}” in ${column}.`)),
            h(Warnings, { warnings: answer.warnings }),
        ];
    }

    render({ answer, model, busy }, { read }) {
        return h('section', {
            class: 'card stack answer', 'aria-label': 'Prediction', 'aria-busy': String(busy),
        }, [
            h('h2', {}, model.target ? `Prediction of ${model.target}` : 'Prediction'),
            ...(answer ? this.details() : [h('p', { class: 'minor' }, busy ? 'Asking the model …'
                : `Fill in the row: ${plural(model.inputs?.length || 0, 'column')}.`)]),
            h('p', { class: 'hidden', 'aria-live': 'polite' }, read),
        ]);
    }
}
