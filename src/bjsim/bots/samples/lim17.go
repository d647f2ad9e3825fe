// Lim 17: hits below 17, like the dealer.
//
// A bot is run once per move, with the arguments  SCORE HAND VISIBLE STAKE CHIPS
//   SCORE    points of the hand; an ace counts 11 unless that busts
//   HAND     cards of the hand, one letter each: A 2-9 T J Q K
//   VISIBLE  all cards on the table: the dealer's open card, # for the hidden one, then the rest in dealing order
//   STAKE    chips bet on this hand
//   CHIPS    chips left to bet with
// and prints its move: H hit, S stand, D double (first move only), B 15 raise by 15 chips; where the rules allow them
// also P split and R surrender. It must not keep state between moves. Any other output makes it stand.

package main

import (
	"fmt"
	"os"
	"strconv"
)

func main() {
	score, _ := strconv.Atoi(os.Args[1])
	if score < 17 {
		fmt.Println("H")
	} else {
		fmt.Println("S")
	}
}
