//! The view of fields: the segments of a commit, seen through each of their searched fields.

use crate::query::Query;
use crate::schema::{Field, Schema};
use crate::search::{Leaf, Searcher};
use crate::segment::Segment;

/// Segments seen through each searched field, in the same order for all fields.
#[derive(Clone, Debug)]
pub(crate) struct FieldViews {
    /// The field that is searched if a query names none.
    default: Field,
    views: Vec<FieldSegments>,
    /// The fields of documents, if they are known.
    schema: Option<Schema>,
}

#[derive(Clone, Debug)]
struct FieldSegments {
    field: Field,
    /// The name of the field in explanations; `None` for its number.
    name: Option<String>,
    segments: Vec<Segment>,
}

impl FieldViews {
    /// The searched fields of a schema.
    pub(crate) fn of_schema(schema: &Schema, segments: &[Segment]) -> Self {
        let view = |field| FieldSegments {
            field,
            name: schema.entry(field).map(|entry| entry.name.clone()),
            segments: seen_through(field, segments),
        };
        FieldViews {
            default: schema.default_field().unwrap_or_default(),
            views: schema.searched().map(|(field, _)| view(field)).collect(),
            schema: Some(schema.clone()),
        }
    }

    /// Only the fields that a query names.
    pub(crate) fn of_query(query: &Query, segment: &Segment) -> Self {
        let default = Field::default();
        let mut fields = query.fields();
        if fields.is_empty() {
            // A query of values or of all documents can use any field.
            fields.insert(default);
        }
        let segments = std::slice::from_ref(segment);
        let view = |field| FieldSegments { field, name: None, segments: seen_through(field, segments) };
        FieldViews { default, views: fields.into_iter().map(view).collect(), schema: None }
    }

    /// The field that is searched if a query names none.
    pub(crate) fn default_field(&self) -> Field {
        self.default
    }

    /// The segments seen through a field; none if it is not searched.
    pub(crate) fn segments(&self, field: Field) -> &[Segment] {
        let view = self.views.iter().find(|view| view.field == field);
        view.map_or(&[], |view| &view.segments)
    }

    /// A searcher over all fields, with the default field of the schema.
    pub(crate) fn searcher(&self) -> Searcher<'_> {
        self.searcher_in(self.default)
    }

    /// A searcher over all fields, with another default field.
    pub(crate) fn searcher_in(&self, default: Field) -> Searcher<'_> {
        let leaves = |view| {
            let FieldSegments { field, segments, .. }: &FieldSegments = view;
            (*field, segments.iter().map(|segment| segment as &dyn Leaf).collect())
        };
        let searcher = Searcher::over(self.views.iter().map(leaves).collect(), default);
        let searcher = match &self.schema {
            Some(schema) => searcher.knowing(schema),
            None => searcher,
        };
        searcher.naming(|field| {
            let name = self.views.iter().find(|view| view.field == field).and_then(|view| view.name.clone());
            name.unwrap_or_else(|| format!("field {}", field.number()))
        })
    }
}

fn seen_through(field: Field, segments: &[Segment]) -> Vec<Segment> {
    segments.iter().map(|segment| segment.in_field(field)).collect()
}
