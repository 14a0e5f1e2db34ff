/* The choice of the dataset whose rows are drawn. */
import { h } from '../../base/preact.js';
import { setQuery } from '../../base/place.js';
import { Problem } from '../../parts/problem.js';
import { DatasetChoice } from '../../parts/dataset_choice.js';

/* Returns {name, version} of the dataset, or null. At first it is that of the training. */
export function chosenDataset({ dataset }, query) {
    const [name, version] = (query.dataset || dataset?.name || '').split('@');
    return name === '' ? null
        : { name, version: version || (name === dataset?.name ? dataset.version : undefined) };
}

/* error: of the rows; retry: loads them again */
export function DataFields({ model, query, error, retry }) {
    return h('section', { class: 'card stack', 'aria-labelledby': 'rows-title' }, [
        h('h2', { id: 'rows-title' }, 'Rows'),
        h(DatasetChoice, {
            label: 'Data', value: chosenDataset(model, query)?.name || '',
            preferred: model.dataset?.name, onChange: (dataset) => setQuery({ dataset }),
            hint: model.dataset ? 'drawn over the plane, and checked for wrong answers'
                : 'the training data were deleted; other rows can be drawn',
        }),
        error ? h(Problem, { error, retry }) : null,
    ]);
}
