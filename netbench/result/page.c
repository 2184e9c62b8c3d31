/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns the breaking of text into lines of a terminal. */
#include "result/page.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

static unsigned int width_of(const char *text, size_t len)
{
	mbstate_t state = {0};
	unsigned int width = 0;

	while (len) {
		wchar_t character;
		size_t used = mbrtowc(&character, text, len, &state);
		int cells;

		if (used == 0 || used > len)
			return width + len;
		cells = wcwidth(character);
		width += cells > 0 ? cells : 0;
		text += used;
		len -= used;
	}
	return width;
}

unsigned int page_columns(const char *text)
{
	return width_of(text, strlen(text));
}

/* Further lines of a paragraph start with four spaces. */
static void page_word(struct page *page, const char *word, size_t len)
{
	unsigned int width = width_of(word, len);

	if (page->column && page->width && page->column + width > page->width) {
		fputs("\n    ", page->out);
		page->column = 4;
		while (*word == ' ' && len) {
			word++;
			len--;
		}
		width = width_of(word, len);
	}
	fwrite(word, 1, len, page->out);
	page->column += width;
}

static void page_text(struct page *page, const char *text)
{
	while (*text) {
		size_t spaces = strspn(text, " "), len = spaces + strcspn(text + spaces, " ");

		page_word(page, text, len);
		text += len;
	}
}

int page_print(struct page *page, const char *fmt, ...)
{
	char *text;
	va_list ap;
	int len;

	va_start(ap, fmt);
	len = vasprintf(&text, fmt, ap);
	va_end(ap);
	if (len < 0)
		return -ENOMEM;
	page_text(page, text);
	free(text);
	return 0;
}

void page_end(struct page *page)
{
	fputc('\n', page->out);
	page->column = 0;
}

void page_heading(struct page *page, const char *fmt, ...)
{
	char *text;
	va_list ap;
	int len;

	va_start(ap, fmt);
	len = vasprintf(&text, fmt, ap);
	va_end(ap);
	if (len < 0)
		return;
	if (page->color)
		fputs("\033[1m", page->out);
	page_text(page, text);
	if (page->color)
		fputs("\033[0m", page->out);
	page_end(page);
	free(text);
}
