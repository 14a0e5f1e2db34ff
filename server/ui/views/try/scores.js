/* What the scores of an answer are. */

function pairsOf(classes) {
    return classes.flatMap((first, i) => classes.slice(i + 1).map((second) => [first, second]));
}

/* Whether each score is that of a class. */
function isPerClass({ decision }, classes, n) {
    return n > 1 && n === classes.length && !String(decision).startsWith('one_vs_one');
}

/* Returns the names of n scores: what is the more probable the greater a score is. */
export function scoreNames(model, classes, n) {
    if (model.decision === 'outlier') {
        return [String(classes[0])];
    }
    if (isPerClass(model, classes, n)) {
        return classes.map(String);
    }
    return n === 1 ? [String(classes[classes.length - 1])]
        : pairsOf(classes).slice(0, n).map(([first, second]) => `${second} against ${first}`);
}

/* Returns the number of the score that belongs to a label. */
export function scoreOf(model, classes, n, label) {
    if (n === 1) {
        return 0;
    }
    const at = isPerClass(model, classes, n) ? classes.indexOf(label)
        : pairsOf(classes).findIndex((pair) => pair.includes(label));
    return Math.max(at, 0);
}
