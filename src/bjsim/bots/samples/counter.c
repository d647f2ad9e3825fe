/* A card counter for one deck: it estimates the next card by the mean points of all cards that it has not seen.
 *
 * The arguments and the moves are described at the top of lim17.c. The counter removes the visible cards from the deck.
 * It cannot see the dealer's hidden card, or the cards of earlier rounds.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DECK_POINTS = 4 * (1 + 2 + 3 + 4 + 5 + 6 + 7 + 8 + 9 + 4 * 10), DECK_CARDS = 52 };

/* Points of a card; an ace counts 1. */
static int points(char card)
{
    if (card >= '2' && card <= '9')
        return card - '0';
    return card == 'A' ? 1 : 10;
}

/* Mean points of the unseen cards. When a whole deck has been seen, a new one is added. */
static double mean_unseen(const char *visible)
{
    int sum = DECK_POINTS, cards = DECK_CARDS;
    for (const char *card = visible; *card; card++) {
        if (*card == '#')
            continue;
        sum -= points(*card);
        if (--cards == 0) {
            sum += DECK_POINTS;
            cards += DECK_CARDS;
        }
    }
    return (double)sum / cards;
}

int main(int argc, char **argv)
{
    if (argc < 6)
        return 2;
    int score = atoi(argv[1]), stake = atoi(argv[4]), chips = atoi(argv[5]);
    const char *hand = argv[2], *visible = argv[3];

    int hard = 0;
    for (const char *card = hand; *card; card++)
        hard += points(*card);
    int soft = score != hard;
    int dealer = points(visible[0]) == 1 ? 11 : points(visible[0]);

    if (strlen(hand) == 2 && stake == 10 && chips >= stake && (score == 10 || score == 11) && dealer < 10) {
        puts("D");
        return 0;
    }
    /* With 4, 5 or 6 the dealer busts often, so stand on any hard hand that could bust. */
    if (!soft && score >= 12 && dealer >= 4 && dealer <= 6)
        puts("S");
    else if (soft)
        puts(score < 18 ? "H" : "S");
    else
        puts(score < 17 && score + mean_unseen(visible) <= (dealer >= 7 ? 23.5 : 21) ? "H" : "S");
    return 0;
}
