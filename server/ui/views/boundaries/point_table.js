/* The points that the user has set, and what the model answers there. */
import { h } from '../../base/preact.js';
import { percent } from '../../base/format.js';
import { answerAt } from '../../parts/contours.js';
import { valueText } from '../../parts/plane.js';
import { DataTable } from '../../parts/table.js';

function answerText(grid, point) {
    const answer = grid && answerAt(grid, point.x, point.y);
    if (!answer) {
        return 'outside of the drawn part';
    }
    return answer.label === null ? 'no class: ambiguous' : String(grid.classes[answer.label]) +
        (answer.probability === undefined ? '' : ` (${percent(answer.probability)})`);
}

/* points: [{x, y}]; axes: {x, y} of the plane */
export function PointTable({ points, grid, axes, onRemove }) {
    if (!axes || points.length === 0) {
        return null;
    }
    return h('section', { class: 'card stack', 'aria-labelledby': 'points-title' }, [
        h('h2', { id: 'points-title' }, 'Your points'),
        h('p', { class: 'minor' }, 'Drag a point to see how the answer changes.'),
        h(DataTable, {
            caption: 'Your points', sort: false,
            rows: points.map((point, i) => ({ ...point, i })),
            columns: [
                { name: 'i', label: 'Point', cell: ({ i }) => i + 1 },
                { name: 'x', label: axes.x.label, numeric: true,
                    cell: ({ x }) => valueText(axes.x, x) },
                { name: 'y', label: axes.y.label, numeric: true,
                    cell: ({ y }) => valueText(axes.y, y) },
                { name: 'answer', label: 'Answer', cell: (point) => answerText(grid, point) },
                { name: 'remove', label: h('span', { class: 'hidden' }, 'Remove'),
                    cell: ({ i }) => h('button', {
                        type: 'button', class: 'quiet', 'aria-label': `Remove point ${i + 1}`,
                        onClick: () => onRemove(i),
                    }, 'Remove') },
            ],
        }),
    ]);
}
