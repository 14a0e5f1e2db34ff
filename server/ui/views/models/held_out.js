/* The predictions on which a decision rule is tried before it is stored: those of the held-out
 * rows, or, of two classes, the points of their ROC curve, or of that of a dataset. */
import { call, list, path, post } from '../../base/api.js';
import { d3 } from '../../base/d3.js';
import { csvLine } from '../../base/save.js';
import { versionPath } from '../../base/version_path.js';

const MOST_VALUES = 1500000; /* cells that are loaded and parsed well within a second */

/* The number of cells of the stored predictions; 0: there are none. */
function size(model) {
    const { validation, rows, classes } = model;
    if (!validation || validation.dataset || !model.job) {
        return 0;
    }
    const n = validation.folds ? rows.train * (validation.repeats || 1) : rows.validation;
    return n * (classes.length + 4);
}

/* Returns a function that gives the index of a class by its text, undefined if it is none. Stored
 * cells are written as they were: "1.0" or "True" for the class 1 or true. */
function classIndex(names) {
    const index = new Map();
    names.forEach((name, i) => [name, name.toLowerCase()].forEach((text) => index.set(text, i)));
    const numbers = new Map(names.map((name, i) => [Number(name), i]));
    numbers.delete(NaN);
    return (text) => index.get(text) ?? index.get(text.toLowerCase()) ??
        (text.trim() === '' ? undefined : numbers.get(Number(text)));
}

/* Reads predictions as CSV. k: number of classes; columns: (header) => {truth, weight, from}, the
 * indices of columns, `from` of the first that may be a probability. Returns {n, k, truth, p,
 * weight}: p has k probabilities for each row that has a class; null: the model has scores. */
function parse(text, k, columns) {
    const [header, ...lines] = d3.csvParseRows(text);
    const at = columns(header);
    const first = header.findIndex((name, i) => i >= at.from && name.startsWith('p('));
    if (first < 0) {
        return null;
    }
    const index = classIndex(header.slice(first, first + k).map((name) => name.slice(2, -1)));
    const truth = new Int32Array(lines.length);
    const p = new Float64Array(lines.length * k);
    const weight = new Float64Array(lines.length).fill(1);
    let n = 0;
    for (const line of lines) {
        const own = index(line[at.truth]);
        if (own !== undefined && line[first] !== '') {
            truth[n] = own;
            for (let i = 0; i < k; i++) {
                p[n * k + i] = Number(line[first + i]);
            }
            if (at.weight >= 0) {
                weight[n] = Number(line[at.weight]);
            }
            n++;
        }
    }
    return { n, k, truth, p, weight };
}

/* The predictions for held-out rows; null: there are none, or they are too many. */
async function loadRows(model, signal) {
    const cells = size(model);
    if (cells === 0 || cells > MOST_VALUES) {
        return null;
    }
    try {
        const answer = await call('GET', path`/v1/jobs/${model.job}/predictions`,
            { accept: 'text/csv', signal });
        return parse(await answer.text(), model.classes.length, (header) => ({
            truth: header.indexOf('truth'), weight: header.indexOf('weight'), from: 0,
        }));
    } catch (error) {
        if (error.status === 404) {
            return null; /* the job was deleted, or kept none */
        }
        throw error;
    }
}

/* The predictions for the rows of a dataset; null: they are too many. */
async function loadDataset(model, name, signal) {
    const versions = await list(path`/v1/datasets/${name}/versions`,
        { query: { fields: 'version,rows' }, most: Infinity, signal });
    const { rows } = versions[versions.length - 1]; /* the newest */
    const k = model.classes.length;
    if (rows * (k + 4) > MOST_VALUES) {
        return null;
    }
    const kept = [model.target, model.weight].filter(Boolean);
    const answer = await call('POST', `${versionPath(model)}/predict`, {
        query: { output: 'probabilities', keep: csvLine(kept) },
        body: { dataset: name }, accept: 'text/csv', signal,
    });
    return parse(await answer.text(), k,
        () => ({ truth: 0, weight: model.weight ? 1 : -1, from: kept.length }));
}

/* The ROC curve of two classes as counts. metrics: with roc, per_class. */
function curveOf(metrics) {
    const curve = metrics?.roc?.length === 1 ? metrics.roc[0] : null;
    if (!curve || curve.threshold_of !== 'probability') {
        return null;
    }
    const [negative, positive] = metrics.per_class.map((c) => c.support);
    return {
        positives: positive, negatives: negative,
        points: curve.points.map((q) => ({
            threshold: q.threshold === null ? Infinity : q.threshold,
            tp: q.true_positive_rate * positive, fp: q.false_positive_rate * negative,
        })),
    };
}

/* Loads what is there of the held-out rows, or of the dataset `data`: {rows, curve}; each may be
 * null. tooMany: there are predictions, but too many to load. */
export async function loadHeldOut(model, data, signal) {
    if (data) {
        const rows = await loadDataset(model, data, signal);
        if (rows) {
            return { rows, curve: null };
        }
        const { metrics } = await post(`${versionPath(model)}/evaluate`, { dataset: data },
            { query: { curves: true, decision: 'probabilities' }, signal });
        return { rows, curve: curveOf(metrics), tooMany: true };
    }
    const rows = await loadRows(model, signal);
    const validation = model.metrics?.validation;
    return {
        rows, curve: rows ? null : curveOf(validation?.pooled || validation),
        tooMany: size(model) > MOST_VALUES,
    };
}

/* The points of the second class, by falling threshold, from rows. */
function pointsOf({ n, truth, p, weight }) {
    const order = Array.from({ length: n }, (_, r) => r)
        .sort((a, b) => p[2 * b + 1] - p[2 * a + 1]);
    const points = [{ threshold: Infinity, tp: 0, fp: 0 }];
    let tp = 0;
    let fp = 0;
    order.forEach((r, i) => {
        tp += truth[r] === 1 ? weight[r] : 0;
        fp += truth[r] === 0 ? weight[r] : 0;
        if (i + 1 === n || p[2 * order[i + 1] + 1] !== p[2 * r + 1]) {
            points.push({ threshold: p[2 * r + 1], tp, fp });
        }
    });
    return { points, positives: tp, negatives: fp };
}

/* What thresholds do to two classes. positive: index of the class that is looked for. */
export class Thresholds {
    constructor({ rows, curve }, positive) {
        const { points, positives, negatives } = rows ? pointsOf(rows) : curve;
        this.positives = positive === 1 ? positives : negatives;
        this.negatives = positive === 1 ? negatives : positives;
        this.points = positive === 1 ? points : this.mirrored(points, positives, negatives);
    }

    /* The same points seen from the first class, whose probability is 1 minus that of the second:
     * what is not below a threshold of one is above a threshold of the other. */
    mirrored(points, positives, negatives) {
        const result = [{ threshold: Infinity, tp: 0, fp: 0 }];
        for (let i = points.length - 1; i > 0; i--) {
            const above = points[i - 1];
            result.push({
                threshold: 1 - points[i].threshold,
                tp: negatives - above.fp, fp: positives - above.tp,
            });
        }
        return result;
    }

    /* The counts if rows with at least probability t are given the class. */
    at(t) {
        let low = 0;
        let high = this.points.length - 1;
        while (low < high) {
            const middle = (low + high + 1) >> 1;
            if (this.points[middle].threshold >= t) {
                low = middle;
            } else {
                high = middle - 1;
            }
        }
        return this.figures(this.points[low]);
    }

    figures({ tp, fp }) {
        const fn = this.positives - tp;
        const tn = this.negatives - fp;
        const all = this.positives + this.negatives;
        const share = (a, b) => (b > 0 ? a / b : null);
        const root = Math.sqrt((tp + fp) * (tp + fn) * (tn + fp) * (tn + fn));
        return {
            tp, fp, fn, tn, all, precision: share(tp, tp + fp), recall: share(tp, tp + fn),
            f1: share(2 * tp, 2 * tp + fp + fn), accuracy: share(tp + tn, all),
            youden: this.positives > 0 && this.negatives > 0
                ? tp / this.positives - fp / this.negatives : null,
            mcc: root > 0 ? (tp * tn - fp * fn) / root : 0,
        };
    }

    /* The threshold between 0 and 1 with the greatest value(figures); null counts as none. */
    best(value) {
        let best = null;
        this.points.forEach((point, i) => {
            const v = point.threshold <= 1 ? value(this.figures(point)) : null;
            if (v !== null && (best === null || v > best.v)) {
                best = { v, i };
            }
        });
        return best ? this.between(best.i) : null;
    }

    /* The shortest number that is a threshold with the counts of point i: above the next point. */
    between(i) {
        const high = Math.max(this.points[i].threshold, 0);
        const low = i + 1 < this.points.length ? this.points[i + 1].threshold : 0;
        for (let digits = 2; digits < 17; digits++) {
            const unit = 10 ** -digits;
            const x = Number((Math.floor(high / unit) * unit).toFixed(digits));
            if (x > low && x <= high) {
                return x;
            }
        }
        return high;
    }
}

/* Labels by least expected cost. costs: [true class][label]; reject: the greatest expected cost
 * that is accepted (Infinity: any), and the cost of a row without a label. Returns the confusion
 * matrix and that of the most probable class (plain), the mean costs of both, the weight of all
 * rows, of those without a label and of those with another label. */
export function tryCosts({ n, k, truth, p, weight }, costs, reject) {
    const matrix = costs.map((row) => row.map(() => 0));
    const plain = costs.map((row) => row.map(() => 0));
    let all = 0;
    let cost = 0;
    let plainCost = 0;
    let rejected = 0;
    let changed = 0;
    for (let r = 0; r < n; r++) {
        const at = r * k;
        let label = -1;
        let least = Infinity;
        let likely = 0;
        for (let j = 0; j < k; j++) {
            let expected = 0;
            for (let i = 0; i < k; i++) {
                expected += p[at + i] * costs[i][j];
            }
            if (expected < least) {
                least = expected;
                label = j;
            }
            likely = p[at + j] > p[at + likely] ? j : likely;
        }
        const t = truth[r];
        all += weight[r];
        plain[t][likely] += weight[r];
        plainCost += weight[r] * costs[t][likely];
        if (least > reject) {
            rejected += weight[r];
        } else {
            matrix[t][label] += weight[r];
            cost += weight[r] * costs[t][label];
            changed += label === likely ? 0 : weight[r];
        }
    }
    if (rejected > 0) {
        cost += rejected * reject;
    }
    return {
        matrix, plain, changed, all, rejected, cost: all > 0 ? cost / all : null,
        plainCost: all > 0 ? plainCost / all : null,
    };
}
