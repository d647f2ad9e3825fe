// Lim 17 in the line protocol: hits below 17, like the dealer. It lives for a whole match.
//
// bjsim: line 1
//
// It reads lines, and answers those that begin with
//   hello    with: ready 1
//   move     with its move: H hit, S stand, D double (first move only), B 15 raise by 15 chips; where the rules allow them
//            also P split and R surrender. The first five words after `move` are
//              SCORE    points of the hand; an ace counts 11 unless that busts
//              HAND     cards of the hand, one letter each: A 2-9 T J Q K
//              VISIBLE  all cards on the table: the dealer's open card, # for the hidden one, then the others as dealt
//              STAKE    chips bet on this hand
//              CHIPS    chips left to bet with
//            A later one has the moves that are allowed: legal=SHD, or legal=IS where insurance is offered.
// It skips all other lines, which tell what happens at the table, and ends with its input. Answers are flushed. What it
// remembers it must build from the lines, not from its answers: another process may take over in the middle of a match.

const lines = require("readline").createInterface({ input: process.stdin });

lines.on("line", (line) => {
  const words = line.split(" ");
  if (words[0] === "hello") console.log("ready 1");
  else if (words[0] === "move") console.log(Number(words[1]) < 17 && line.includes(" legal=SH") ? "H" : "S");
});
