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

use std::io::BufRead;

fn main() {
    for line in std::io::stdin().lock().lines().map_while(Result::ok) {
        let mut words = line.split(' ');
        match words.next() {
            Some("hello") => println!("ready 1"), // println! flushes at the end of a line
            Some("move") => {
                let score: u32 = words.next().and_then(|word| word.parse().ok()).unwrap_or(0);
                println!("{}", if score < 17 && line.contains(" legal=SH") { "H" } else { "S" });
            }
            _ => {}
        }
    }
}
