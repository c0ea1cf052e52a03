-- Whether the links of a page that failed were followed all the same, as they were stored last time:
-- then it hides nothing. Of the pages of runs under way nobody knows, so they count as not followed.
alter table rag.crawl_pages add column led_on boolean not null default false;
