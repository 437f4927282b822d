"""What a drawn figure says."""

from matplotlib.text import Text


def words_of(figure):
    return " ".join(text.get_text() for text in figure.findobj(Text))
