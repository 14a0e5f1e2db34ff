/* The plane of a panel: what its model has learned, and the points, which the user changes. */
import { Component, h } from '../../base/preact.js';
import { get, path, post } from '../../base/api.js';
import { readGrid } from '../../parts/contours.js';
import { Plane } from '../../parts/plane.js';
import {
    colourOf, drawDirections, drawEllipses, drawSlack, drawTrail, linearGrid,
} from './layers.js';
import { CLASSES, LIMIT } from './shapes.js';

const STEPS = 101; /* of the grid, on each axis */
const TRAIL = 4; /* lines of the last steps of a perceptron */
const WITH_WEIGHTS = ['svm', 'one_class_svm', 'gaussian', 'fisher'];
const X = { label: 'x', from: -LIMIT, to: LIMIT };
const Y = { label: 'y', from: -LIMIT, to: LIMIT };

export async function planeOutputs(version, job, signal, show) {
    const axis = (column) => ({ column, from: -LIMIT, to: LIMIT, steps: STEPS });
    const output = show.contours ? 'label,scores,probabilities' : 'label,scores';
    const [grid, weights, history] = await Promise.all([
        post(`${version}/evaluate_grid`, { x: axis('x'), y: axis('y'), output }, { signal }),
        WITH_WEIGHTS.includes(job.algorithm)
            ? get(`${version}/weights`, { query: { support_vectors: true }, signal }) : {},
        show.steps ? get(path`/v1/jobs/${job.id}/history`, { signal }) : null,
    ]);
    const snapshots = (history?.snapshots || []).filter(({ w }) => typeof w?.[0] === 'number');
    const support = weights.support?.available ? weights.support : null;
    return {
        grid: readGrid(grid, {}, job.result.params.multiclass || 'native'), weights, snapshots,
        support,
    };
}

/* The grid and the rings of a trained model, and what is drawn over the plane. */
function pictureOf(trained, show, values) {
    if (!trained) {
        return { grid: null, ringed: new Set(), overlay: null };
    }
    const { snapshots, weights, support, points } = trained;
    const last = show.steps && snapshots.length
        ? Math.min(values.step, snapshots.length - 1) : undefined;
    const grid = last === undefined ? trained.grid
        : linearGrid(snapshots[last].w, snapshots[last].w0, trained.grid.classes);
    const rows = (support?.machines || []).flatMap((machine) => machine.rows);
    if (last > 0 && snapshots[last].row !== undefined) {
        rows.push(snapshots[last].row);
    }
    const overlay = (inner, at) => {
        if (last !== undefined) {
            drawTrail(inner, at, snapshots.slice(Math.max(last - TRAIL + 1, 0), last + 1));
        }
        if (show.ellipses && weights.means && weights.covariances) {
            drawEllipses(inner, at, weights);
        }
        if (show.direction && weights.directions) {
            drawDirections(inner, at, weights.directions, points, values.angle);
        }
        if (show.slack && weights.w?.length === 1 && support) {
            drawSlack(inner, at, weights.w[0], support.machines[0], points);
        }
    };
    return {
        grid: { ...grid, colours: grid.classes.map(colourOf) },
        ringed: new Set(rows.map((row) => points[row])), overlay,
    };
}

/* points, values, trained, show: as in Panel; editor: of Board. */
export class Drawing extends Component {
    /* The picture; the same object as long as nothing of it changes. */
    picture({ trained, show, values }) {
        const depends = show.steps || show.direction ? JSON.stringify(values) : '';
        if (this.made?.trained !== trained || this.made.depends !== depends) {
            this.made = { trained, depends, picture: pictureOf(trained, show, values) };
        }
        return this.made.picture;
    }

    /* The points with their rings; the same list as long as nothing of it changes. */
    marked(points, { ringed }) {
        if (this.list?.points !== points || this.list.ringed !== ringed) {
            const marks = points.map((p) =>
                ({ ...p, ring: ringed.has(p), text: `point of ${CLASSES[p.c]}` }));
            this.list = { points, ringed, marks };
        }
        return this.list.marks;
    }

    render(props) {
        const { points, show, editor, label, name } = props;
        const picture = this.picture(props);
        const { grid } = picture;
        return h('div', { class: `play-surface ${editor.mode}`, onKeyDown: editor.key }, h(Plane, {
            label: `${label}: a plane of ${points.length} points`, name, x: X, y: Y, grid,
            show: {
                regions: true, boundary: true,
                probability: show.contours && grid?.classes.length === 2 ? 1 : undefined,
                margins: show.margins && grid?.scores.length === 1 ? [0] : [],
            },
            height: (width) => Math.max(width - 24, 200), overlay: picture.overlay,
            points: this.marked(points, picture),
            onPoint: editor.set, onMove: editor.move, onRemove: editor.remove,
            onPaint: editor.mode === 'paint' ? editor.paint : undefined,
            removes: editor.mode === 'remove', quiet: true,
        }));
    }
}
