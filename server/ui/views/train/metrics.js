/* The metrics of the API in plain words. */
export const METRICS = [
    ['log_loss', 'log loss: how sure it was of the right class', 'smaller is better; being sure ' +
        'and wrong costs most'],
    ['accuracy', 'accuracy: share of right answers', 'greater is better'],
    ['error', 'error: share of wrong answers', 'smaller is better'],
    ['balanced_accuracy', 'balanced accuracy: every class counts the same',
        'greater is better; for classes with few rows'],
    ['roc_auc', 'ROC area: how well scores put the classes in order',
        'greater is better; 0.5 is chance'],
    ['average_precision', 'average precision: finding a rare class',
        'greater is better; the area below precision and recall'],
    ['brier', 'Brier score: distance of the probabilities from the truth', 'smaller is better'],
    ['ece', 'calibration error: whether 80 % means 80 %', 'smaller is better'],
    ['mcc', 'Matthews correlation: of answer and truth', 'greater is better; 0 is chance'],
    ['kappa', 'kappa: agreement beyond chance', 'greater is better; 0 is chance'],
    ['logistic_loss', 'logistic loss of the scores', 'smaller is better'],
    ['hinge', 'hinge loss of the scores', 'smaller is better; the loss of support vectors'],
    ['squared_loss', 'squared loss of the scores', 'smaller is better'],
    ['ambiguous', 'ambiguous: share of rows without an answer', 'smaller is better'],
];

export const METRIC_OPTIONS = METRICS.map(([value, label]) => ({ value, label }));

/* What is better, for a hint. */
export function metricHint(name) {
    return METRICS.find(([value]) => value === name)?.[2];
}
