#!/bin/bash
# 10. Masking: least squares loses the middle one of three classes
# Hastie, Tibshirani and Friedman, The Elements of Statistical Learning, chapter 4 (Linear Methods for Classification), section 4.2, figure 4.2; Bishop, Pattern Recognition and Machine Learning, chapter 4, section 4.1.3, figure 4.5
. "$(dirname "$0")/lesson.sh"
say "Three clouds of 50 points, far apart, in a row: left around (-3,-3), middle around (0,0), right
around (3,3), deviation 0.5."
{
    echo x1,x2,class
    clouds 7 left -3 -3 0.5 50 middle 0 0 0.5 50 right 3 3 0.5 50
} | upload masking
middle() { result '.metrics.train.confusion.matrix[1][1]'; }
outer() { result '.metrics.train.confusion.matrix | .[0][0] + .[2][2]'; }
say "Least squares fits one linear function to each class (1 in it, 0 elsewhere); the class of the
greatest is predicted. Along the row the function of the left class falls and that of the right
class rises. That of the middle class is nearly constant, about 1/3, and is the greatest almost
nowhere."
train masking-ls masking least_squares '{"lambda":0}'
holds "points found of the 50 in the middle" "$(middle)" '<' 25
same "points found of the 100 outside" "$(outer)" 100

say "Softmax (logistic regression of three classes) has linear functions too, but fits their
softmax, not each of them, to 0 and 1:"
train masking-softmax masking logistic
same "points found of the 50 in the middle" "$(middle)" 50
say "Linear discriminant analysis:"
train masking-lda masking gaussian
same "points found of the 50 in the middle" "$(middle)" 50
