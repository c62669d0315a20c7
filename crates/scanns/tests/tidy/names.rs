//! Unique names of types: two types of a crate do not share a name.

use std::collections::BTreeMap;
use std::path::PathBuf;

use syn::spanned::Spanned;
use syn::visit::{self, Visit};

/// Where a type is defined: its file and its line.
pub type Place = (PathBuf, usize);

/// The types that a file defines outside of its tests, each with its line.
pub fn types(file: &syn::File) -> Vec<(String, usize)> {
    let mut found = Types(Vec::new());
    found.visit_file(file);
    found.0
}

/// Names that several types of a crate have: every place except the first, together with the first.
pub fn shared(defined: &BTreeMap<String, Vec<Place>>) -> Vec<(Place, String)> {
    let several = defined.iter().filter(|(_, places)| places.len() > 1);
    several
        .flat_map(|(name, places)| {
            let first = format!("{}:{}", places[0].0.display(), places[0].1);
            let told = places[1..].iter();
            told.map(move |place| (place.clone(), format!("{name} is the name of a type in {first} too")))
        })
        .collect()
}

struct Types(Vec<(String, usize)>);

impl Types {
    fn add(&mut self, name: &syn::Ident) {
        self.0.push((name.to_string(), name.span().start().line));
    }
}

fn is_test(attributes: &[syn::Attribute]) -> bool {
    attributes.iter().any(|attribute| match &attribute.meta {
        syn::Meta::List(list) => list.path.is_ident("cfg") && list.tokens.to_string().contains("test"),
        _ => false,
    })
}

impl<'ast> Visit<'ast> for Types {
    fn visit_item_mod(&mut self, item: &'ast syn::ItemMod) {
        if !is_test(&item.attrs) {
            visit::visit_item_mod(self, item);
        }
    }

    fn visit_item_fn(&mut self, _: &'ast syn::ItemFn) {
        // A type inside a function is only visible there.
    }

    fn visit_item_impl(&mut self, _: &'ast syn::ItemImpl) {
        // The traits determine the names of associated types.
    }

    fn visit_item_struct(&mut self, item: &'ast syn::ItemStruct) {
        self.add(&item.ident);
    }

    fn visit_item_enum(&mut self, item: &'ast syn::ItemEnum) {
        self.add(&item.ident);
    }

    fn visit_item_trait(&mut self, item: &'ast syn::ItemTrait) {
        self.add(&item.ident);
    }

    fn visit_item_type(&mut self, item: &'ast syn::ItemType) {
        self.add(&item.ident);
    }

    fn visit_item_union(&mut self, item: &'ast syn::ItemUnion) {
        self.add(&item.ident);
    }

    fn visit_item_macro(&mut self, item: &'ast syn::ItemMacro) {
        let _ = item.span();
    }
}
