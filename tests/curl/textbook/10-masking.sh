#!/bin/bash
# 10. Masking. Hastie, Tibshirani and Friedman, The Elements of Statistical Learning, section 4.2, figure 4.2; Bishop, section 4.1.3, figure 4.5.
. "$(dirname "$0")/lesson.sh"
title "Three clouds on a line: for least squares the middle class is nowhere the greatest."
{
    echo x1,x2,class
    clouds 7 left -3 -3 0.5 50 middle 0 0 0.5 50 right 3 3 0.5 50
} | upload masking
train masking-ls masking least_squares '{"lambda":0}'
holds "least squares: of 50 rows of the middle class it finds" "$(result '.metrics.train.confusion.matrix[1][1]')" '<' 25
train masking-softmax masking logistic
same "softmax finds" "$(result '.metrics.train.confusion.matrix[1][1]')" 50
train masking-lda masking gaussian
same "linear discriminant analysis finds" "$(result '.metrics.train.confusion.matrix[1][1]')" 50
