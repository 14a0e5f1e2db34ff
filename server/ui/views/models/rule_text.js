/* A decision rule in words. */
import { number, percent } from '../../base/format.js';

const GOALS = {
    f1: 'the greatest F1', youden: 'the greatest share found minus share of false alarms',
    mcc: 'the greatest Matthews correlation', accuracy: 'the greatest accuracy',
};

/* A stored rule as a sentence. */
export function ruleText({ rule, positive, threshold }) {
    const at = threshold === undefined ? ''
        : ` A row is labelled “${positive}” if its probability is at least ${number(threshold)}.`;
    if (rule.maximise) {
        return `The threshold with ${GOALS[rule.maximise]} on the held-out rows.${at}`;
    }
    if (rule.precision_at_least !== undefined) {
        return `The threshold that finds most “${positive}” while at least ` +
            `${percent(rule.precision_at_least)} of these labels are right.${at}`;
    }
    if (rule.threshold !== undefined) {
        return at.trim();
    }
    const parts = [];
    if (rule.cost) {
        parts.push('A row gets the label with the least expected cost.');
    }
    if (rule.reject !== undefined) {
        parts.push(`A row gets no label if every label has an expected cost above ${
            number(rule.reject)}.`);
    }
    return parts.join(' ');
}
