/* The training data of a model, as long as they are stored. */
import { list, path } from '../../base/api.js';

const MOST = 100000;

async function isStored({ name, version }, signal) {
    const datasets = await list('/v1/datasets', { query: { fields: 'name' }, most: MOST, signal });
    if (!datasets.some((item) => item.name === name)) {
        return false;
    }
    const versions = await list(path`/v1/datasets/${name}/versions`,
        { query: { fields: 'version' }, most: MOST, signal });
    return versions.some((item) => item.version === version);
}

/* Returns the model; its `dataset` is null if that version was deleted. */
export async function withStoredData(model, signal) {
    return model.dataset && !(await isStored(model.dataset, signal)) ? { ...model, dataset: null }
        : model;
}
