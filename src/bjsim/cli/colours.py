"""The colours of pictures and pages, which people with any kind of colour blindness can tell apart.

tests/cli/test_colours.py measures it: with normal sight and simulated protanopia, deuteranopia and tritanopia all
colours of a group differ by more than 20 (CIEDE2000).
"""

ACTION_COLOURS = {"S": "#e45913", "H": "#9ebf9c", "D": "#488191", "P": "#ffe142", "R": "#bf9aff"}  # under black text
RAW, ADJUSTED, EXACT = "#3c87a7", "#d85616", "#000000"  # returns: as played, luck-adjusted, exact
