/* Names and meanings of metrics, and their values as text. */
import { number, percent } from '../base/format.js';

/* By the path in a document of metrics. text: what the number means; share: shown as percent;
 * low: smaller is better. The order is that of tables. */
export const METRICS = {
    accuracy: { label: 'Accuracy', text: 'share of rows with the right label', share: true },
    balanced_accuracy: {
        label: 'Balanced accuracy', share: true,
        text: 'mean over the classes of the share of their rows with the right label',
    },
    roc_auc: {
        label: 'Area under ROC',
        text: 'how well the classes are ranked: 0.5 is chance, 1 is perfect',
    },
    average_precision: {
        label: 'Average precision',
        text: 'area under the precision–recall curve: 1 is perfect',
    },
    log_loss: {
        label: 'Log loss', low: true,
        text: 'penalty for wrong probabilities: 0 is perfect, confident errors cost most',
    },
    brier: {
        label: 'Brier score', low: true,
        text: 'mean squared error of the probabilities: 0 is perfect',
    },
    ece: {
        label: 'Calibration error', low: true,
        text: 'mean difference between probability and observed share: 0 is perfect',
    },
    mcc: {
        label: 'Matthews correlation',
        text: 'agreement of labels and truth: 0 is chance, 1 is perfect',
    },
    kappa: {
        label: 'Cohen’s kappa',
        text: 'agreement beyond chance: 0 is chance, 1 is perfect',
    },
    'macro.precision': {
        label: 'Precision', share: true,
        text: 'share of the rows given a label that have it; mean over the classes',
    },
    'macro.recall': {
        label: 'Recall', share: true,
        text: 'share of the rows of a class that are found; mean over the classes',
    },
    'macro.f1': {
        label: 'F1', text: 'balance of precision and recall; mean over the classes: 1 is perfect',
    },
    error: {
        label: 'Error', share: true, low: true, text: 'share of rows with a wrong label',
    },
    ambiguous: {
        label: 'Ambiguous', low: true, text: 'number of rows that got no label',
    },
    hinge: {
        label: 'Hinge loss', low: true,
        text: 'how far scores are on the wrong side of the margin: 0 is perfect',
    },
    squared_loss: {
        label: 'Squared loss', low: true, text: 'mean of (1 − margin)²: 0 is perfect',
    },
    logistic_loss: {
        label: 'Logistic loss', low: true, text: 'mean of log2(1 + exp(−margin)): 0 is perfect',
    },
};

/* Returns the label of a metric; an unknown one is its own label. */
export function metricLabel(name) {
    return METRICS[name]?.label || name;
}

/* Returns the number at the path of a metric ("macro.f1"), or undefined. */
export function metricValue(metrics, name) {
    return name.split('.').reduce((value, member) => value?.[member], metrics);
}

/* Returns a value as text: 85.7 % for a share, 0.3078 for others. */
export function metricText(name, value) {
    return METRICS[name]?.share && typeof value === 'number' ? percent(value) : number(value);
}

/* Returns the uncertainty of a metric as text, or '': its interval of 95 %, or with folds its
 * standard deviation over the folds. */
export function metricSpread(metrics, name) {
    const interval = metrics?.[`${name}_interval`];
    if (interval) {
        return `${metricText(name, interval[0])} to ${metricText(name, interval[1])}`;
    }
    const deviation = metricValue(metrics?.std, name);
    return typeof deviation === 'number' ? `± ${metricText(name, deviation)}` : '';
}
