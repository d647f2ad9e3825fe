;;; Lim 17: hits below 17, like the house.
;;;
;;; A bot is run once per move, with the arguments  SCORE HAND VISIBLE STAKE CHIPS
;;;   SCORE    what the hand counts, an ace as 11 where that does not bust
;;;   HAND     its cards, one letter each: A 2-9 T J Q K
;;;   VISIBLE  all cards on the table: the dealer's open one, # for the hidden one, then the others as they were dealt
;;;   STAKE    chips bet on this hand
;;;   CHIPS    chips left to bet
;;; and prints its move: H hit, S stand, D double (first move only), B 15 raise by 15 chips; where the rules have them
;;; also P split and R surrender. It keeps nothing from one move to the next. Anything else than a move makes it stand.
;;;
;;; SBCL: the arguments are the words of *posix-argv* after the first, which is the program's name.

(let ((score (parse-integer (second sb-ext:*posix-argv*))))
  (write-line (if (< score 17) "H" "S")))
