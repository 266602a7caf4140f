package store

import (
	"context"
	"fmt"
	"strconv"
)

// Query runs SQL of the user. It calls row with the names of the columns, then with each row, as
// text. NULL is the empty text.
func (s *Store) Query(ctx context.Context, query string, row func(cells []string) error) error {
	conn, err := s.db.Conn(ctx)
	if err != nil {
		return s.explain(err)
	}
	defer conn.Close()
	// ATTACH and VACUUM INTO create files, also if the database is opened to read.
	if err := attachNone(conn); err != nil {
		return s.explain(err)
	}
	rows, err := conn.QueryContext(ctx, query)
	if err != nil {
		return s.explain(err)
	}
	defer rows.Close()
	names, err := rows.Columns()
	if err != nil {
		return s.explain(err)
	}
	if err := row(names); err != nil {
		return err
	}
	values, to := make([]any, len(names)), make([]any, len(names))
	for i := range to {
		to[i] = &values[i]
	}
	for rows.Next() {
		if err := rows.Scan(to...); err != nil {
			return s.explain(err)
		}
		cells := make([]string, len(names))
		for i, v := range values {
			cells[i] = text(v)
		}
		if err := row(cells); err != nil {
			return err
		}
	}
	return s.explain(rows.Err())
}

func text(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case []byte:
		return string(v)
	case float64:
		return strconv.FormatFloat(v, 'g', -1, 64)
	}
	return fmt.Sprint(v)
}
