/* Selects the task of a request. */
#include "task/task.h"

const dni_task *dni_task_of(const dn_train_request *request) {
    return request->target == DN_NO_TARGET ? &dni_task_outliers : &dni_task_classes;
}
